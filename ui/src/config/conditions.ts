import type { ConfigFile } from '../api/config/config-file.ts';
import { isJsonObject, type Json, type JsonObject } from '../api/json.ts';

/** The form in which a fact of a condition is edited. */
type FactKind = 'globs' | 'texts' | 'flag' | 'range' | 'share' | 'client' | 'headers' | 'time' | 'decides';

/** A fact of a request that the condition of a rule may name. */
export interface Fact {
  readonly name: string;
  readonly title: string;
  readonly kind: FactKind;
  readonly hint?: string;
}

/** All facts, in the order in which they are offered. */
export const facts: readonly Fact[] = [
  { name: 'client', title: 'Client protocol', kind: 'client' },
  { name: 'model', title: 'Requested model', kind: 'globs' },
  { name: 'key', title: 'Client key', kind: 'globs', hint: 'Names of clients.' },
  { name: 'preset', title: 'Preset', kind: 'globs' },
  { name: 'path', title: 'Path', kind: 'globs', hint: 'Without the preset: /v1/messages.' },
  { name: 'headers', title: 'Headers', kind: 'headers' },
  { name: 'tools', title: 'Tools', kind: 'globs', hint: 'One tool with such a name is enough.' },
  { name: 'images', title: 'Images', kind: 'flag' },
  { name: 'webSearch', title: 'Web search', kind: 'flag' },
  { name: 'safeguards', title: 'Judgement of calls requested', kind: 'flag' },
  { name: 'reasoning', title: 'Reasoning requested', kind: 'flag' },
  { name: 'tokens', title: 'Tokens', kind: 'range' },
  { name: 'turns', title: 'User turns', kind: 'range' },
  { name: 'toolErrors', title: 'Failed tool results', kind: 'share' },
  { name: 'repeatedCall', title: 'Last tool call is a repetition', kind: 'flag' },
  { name: 'sinceUser', title: 'Model turns since the user spoke', kind: 'range' },
  { name: 'lastTool', title: 'Last tool', kind: 'globs' },
  { name: 'system', title: 'System prompt contains', kind: 'texts' },
  { name: 'time', title: 'Time of day', kind: 'time' },
  {
    name: 'requestClass',
    title: 'Agent’s request class',
    kind: 'globs',
    hint: 'main, subagent, workflow, compaction or auxiliary.',
  },
  { name: 'agentType', title: 'Agent type', kind: 'globs', hint: 'Such as Explore or Plan.' },
  { name: 'compaction', title: 'Agent’s compaction', kind: 'globs', hint: 'auto, manual or reactive; * for any.' },
  { name: 'decides', title: 'A model’s decision', kind: 'decides' },
];

/** Operators that join conditions. */
export const joins = [
  { name: 'all', title: 'All of' },
  { name: 'any', title: 'Any of' },
  { name: 'not', title: 'Not' },
] as const;

const firstValues: Readonly<Record<FactKind, Json>> = {
  globs: '',
  texts: '',
  flag: true,
  range: {},
  share: { last: 3, over: 1 },
  client: 'messages',
  headers: { '': true },
  time: { from: '22:00', to: '06:00' },
  decides: { ask: '', question: '' },
};

/** A condition with one more member, which is empty. */
export const withNewMember = (when: JsonObject, name: string): JsonObject => {
  const fact = facts.find((one) => one.name === name);
  if (fact) return { ...when, [name]: firstValues[fact.kind] };
  return { ...when, [name]: name === 'not' ? {} : [{}] };
};

/** One text stays a text; several are a list. */
export const textsToValue = (texts: readonly string[]): Json => (texts.length === 1 ? (texts[0] ?? '') : texts);

/** The texts of a value: one or more. */
export const valueToTexts = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : [];

/** A condition with other destinations in what it asks models. */
export const withAsked = (when: Json, moved: (destination: string) => string): Json => {
  if (Array.isArray(when)) return when.map((one: Json) => withAsked(one, moved));
  if (!isJsonObject(when)) return when;
  return Object.fromEntries(
    Object.entries(when).flatMap(([name, value]) => {
      if (value === undefined) return [];
      if (joins.some((join) => join.name === name)) return [[name, withAsked(value, moved)]];
      if (name !== 'decides' || !isJsonObject(value) || typeof value.ask !== 'string') return [[name, value]];
      return [[name, { ...value, ask: moved(value.ask) }]];
    }),
  );
};

/** The destinations that a condition asks. */
export const askedBy = (when: Json): readonly string[] => {
  const asked: string[] = [];
  withAsked(when, (destination) => {
    asked.push(destination);
    return destination;
  });
  return asked;
};

/** The rules of the user's own. */
export const ownRulesOf = ({ Router = {} }: ConfigFile): readonly JsonObject[] =>
  (Array.isArray(Router.rules) ? Router.rules : []).filter(isJsonObject);
