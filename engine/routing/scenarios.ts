import type { Scenario } from '../config/config.ts';
import { isJsonObject } from '../model/json.ts';
import type { ModelRequest, Part, Tool } from '../model/request.ts';
import type { PromptSize } from '../tokens/prompt-tokens.ts';

/** What a rule must know beside the request. */
export interface Facts extends PromptSize {
  readonly longContextThreshold: number;
}

/** A rule: why the request belongs to the scenario, in words for users; `undefined` when it doesn't. */
export type Rule = (request: ModelRequest, facts: Facts) => string | undefined;

const longContext: Rule = (_, { tokens, by, longContextThreshold }) =>
  tokens > longContextThreshold ? `${sureness[by]}${words(tokens)} tokens > ${words(longContextThreshold)}` : undefined;

const sureness = { count: '', bound: 'at least ', estimate: 'about ' };

const image: Rule = ({ turns }) =>
  newestUserParts(turns).some(holdsImage) ? 'the newest user turn has an image' : undefined;

/**
 * Agents declare a web search beside their own tools on every request: it counts only where nothing else can be called, or
 * where the call is forced.
 */
const webSearch: Rule = ({ tools, toolChoice }) => {
  if (toolChoice?.type === 'none') return undefined;
  if (tools.length > 0 && tools.every(isWebSearch)) return 'a web search is the only tool';
  const forced =
    toolChoice?.type === 'tool' && tools.some((tool) => isWebSearch(tool) && nameOf(tool) === toolChoice.name);
  return forced || choosesWebSearch(toolChoice) ? 'tool_choice forces a web search' : undefined;
};

/** Agents send their small tasks to a small model of this name; where in the name it stands changes with each release. */
const background: Rule = ({ model }) => (/haiku/i.test(model) ? 'the model asked for is a haiku' : undefined);

/** Agents send adaptive thinking and low efforts on every request: only a budget or a high effort counts. */
const think: Rule = ({ reasoning }) => {
  if (!reasoning || reasoning.mode === 'off') return undefined;
  const { mode, budget = 0, effort } = reasoning;
  if (mode === 'on' && budget > 0) return `thinking is on with a budget of ${words(budget)} tokens`;
  return effort && highEfforts.has(effort) ? `the effort asked for is ${effort}` : undefined;
};

/** The rule of each scenario. */
export const rules: Readonly<Record<Scenario, Rule>> = { longContext, image, webSearch, background, think };

const highEfforts: ReadonlySet<string> = new Set(['high', 'xhigh', 'max']);

const words = (count: number): string => count.toLocaleString('en-US');

/** Neighbouring user turns are one turn to a model; instructions in between don't end it. */
const newestUserParts = (turns: ModelRequest['turns']): readonly Part[] => {
  const last = turns.findLastIndex(({ role }) => role === 'user');
  const before = turns.findLastIndex(({ role }, index) => index < last && role === 'assistant');
  return turns.slice(before + 1, last + 1).flatMap(({ role, parts }) => (role === 'user' ? parts : []));
};

const holdsImage = (part: Part): boolean => {
  if (part.type === 'image') return true;
  if (part.type === 'tool-result') return part.content.some(holdsImage);
  return part.type === 'document' && part.source.kind === 'content' && part.source.parts.some(holdsImage);
};

const isWebSearch = (tool: Tool): boolean =>
  tool.type === 'web-search' || (tool.type === 'hosted' && tool.kind.startsWith('web_search'));

const nameOf = (tool: Tool): unknown =>
  tool.type === 'web-search' ? (tool.raw.value.name ?? 'web_search') : tool.name;

/** A choice in one wire format's own words, such as `{"type":"web_search"}`. */
const choosesWebSearch = (choice: ModelRequest['toolChoice']): boolean =>
  choice?.type === 'opaque' &&
  isJsonObject(choice.value) &&
  typeof choice.value.type === 'string' &&
  choice.value.type.startsWith('web_search');
