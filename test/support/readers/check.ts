import { type Grammar, sayViolation, type Violation } from '../../../engine/model/grammar.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { type Facts, GrammarError } from '../facts.ts';

/** The violations in a stream's records. */
export const violationsOf = ({ stream }: Grammar, records: readonly SseRecord[]): readonly Violation[] =>
  runWhole(stream, undefined, records);

/** Throws a `GrammarError` for the first of some violations. */
export const mustKeep = ([first]: readonly Violation[]): void => {
  if (first) throw new GrammarError(sayViolation(first), first.rule);
};

/** The objects in a stream's records, but for words such as `[DONE]`. */
export const objectsIn = (records: readonly SseRecord[]): readonly JsonObject[] =>
  records.flatMap(({ data }) => (data.startsWith('{') ? [objectOf(JSON.parse(data))] : []));

export const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

export const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export const countOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

/** The value of JSON text; the text itself if it doesn't parse. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

export const noFacts: Facts = {
  text: '',
  reasoning: '',
  refusal: '',
  toolCalls: [],
  stop: '',
  usage: undefined,
  signatures: [],
  model: '',
  id: '',
  error: undefined,
};
