import type { Scenario } from '../config/config.ts';
import { isJsonObject } from '../model/json/json.ts';
import { askedEffort, type ModelRequest, type Part, type Tool } from '../model/request.ts';
import { aroundTurnEffort, isAboveUsual } from '../model/wire/efforts.ts';
import type { PromptSize } from './tokens/prompt-tokens.ts';

/** A rule's inputs besides the request. */
interface Facts extends PromptSize {
  readonly longContext: LongContext;
  /** The request class that an agent declares. */
  readonly requestClass?: string | undefined;
}

/** The threshold above which a request counts as long. */
export interface LongContext {
  /** Tokens that a request must exceed. */
  readonly threshold: number;
  /** The source of the threshold, worded for users; absent: the configuration. */
  readonly because?: string;
}

/** Of the default route's window: vendors count differently, and the answer needs room too. */
const windowShare = 0.9;
/** Tokens, where no window is known. */
const usualThreshold = 60_000;

/** The threshold where the configuration sets none. `windows`: those known of the default route's models, in tokens. */
export const longContextFor = (windows: readonly number[]): LongContext =>
  windows.length > 0
    ? { threshold: Math.floor(windowShare * Math.min(...windows)), because: "90 % of the default model's window" }
    : { threshold: usualThreshold };

/** Returns why the request belongs to the scenario, worded for users; `undefined` if it doesn't. */
type Rule = (request: ModelRequest, facts: Facts) => string | undefined;

/** An agent that says so summarizes by itself. */
const compact: Rule = ({ compaction }, { requestClass }) => {
  if (compaction) return 'a summary of the conversation is asked for';
  return requestClass === 'compaction' ? 'the agent says that it summarizes the conversation' : undefined;
};

const longContext: Rule = (_, { tokens, by, longContext: { threshold, because } }) =>
  tokens > threshold
    ? `${qualifiers[by]}${formatCount(tokens)} tokens > ${formatCount(threshold)}${because === undefined ? '' : `, ${because}`}`
    : undefined;

const qualifiers = { count: '', bound: 'at least ', estimate: 'about ' };

const image: Rule = ({ turns }) =>
  isInNewestUserTurn(turns, holdsImage) ? 'the newest user turn has an image' : undefined;

/**
 * Agents declare a web search tool with their own tools on every request. So it counts only if it is the only tool, or if
 * its call is forced.
 */
const webSearch: Rule = ({ tools, toolChoice }) => {
  if (toolChoice?.type === 'none') return undefined;
  if (tools.length > 0 && tools.every(isWebSearch)) return 'a web search is the only tool';
  const forced =
    toolChoice?.type === 'tool' && tools.some((tool) => isWebSearch(tool) && nameOf(tool) === toolChoice.name);
  return forced || choosesWebSearch(toolChoice) ? 'tool_choice forces a web search' : undefined;
};

/**
 * Agents send small tasks to a model of this name. Its position in the full name changes between releases. An agent that says what
 * its request is decides, except for sub-agents: it chooses their models for the size of their tasks.
 */
const background: Rule = ({ model }, { requestClass }) => {
  if (requestClass === 'auxiliary') return 'the agent says that it is auxiliary';
  if (requestClass === 'main' || requestClass === 'compaction') return undefined;
  return /haiku/i.test(model) ? 'the model asked for is a haiku' : undefined;
};

/** Agents send adaptive thinking or a usual effort on every request, so only a budget or an effort above the usual counts. */
const think: Rule = (request) => {
  const { mode, budget = 0, wire } = request.reasoning ?? aroundTurnEffort;
  if (mode === 'off') return undefined;
  if (mode === 'on' && budget > 0) return `thinking is on with a budget of ${formatCount(budget)} tokens`;
  const effort = askedEffort(request);
  return effort && isAboveUsual(effort, wire) ? `the effort asked for is ${effort}` : undefined;
};

/** The rule of each scenario. */
export const rules: Readonly<Record<Scenario, Rule>> = { compact, longContext, image, webSearch, background, think };

export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** Adjacent user turns are one turn to a model, also with instructions between them. */
const isInNewestUserTurn = (turns: ModelRequest['turns'], isWanted: (part: Part) => boolean): boolean => {
  for (let at = turns.findLastIndex(({ role }) => role === 'user'); at >= 0; at -= 1) {
    const turn = turns[at];
    if (turn?.role === 'assistant') return false;
    if (turn?.role === 'user' && turn.parts.some(isWanted)) return true;
  }
  return false;
};

export const holdsImage = (part: Part): boolean => {
  if (part.type === 'image') return true;
  if (part.type === 'tool-result') return part.content.some(holdsImage);
  return part.type === 'document' && part.source.kind === 'content' && part.source.parts.some(holdsImage);
};

/** Whether it is a web search that a vendor runs. */
export const isWebSearch = (tool: Tool): boolean =>
  tool.type === 'web-search' || (tool.type === 'hosted' && tool.kind.startsWith('web_search'));

/** Whether the client wants the calls of its answer judged. */
export const wantsVerdicts = ({ extra }: ModelRequest): boolean => Array.isArray(extra?.fields.safeguards);

/** The name by which a choice names a tool. */
export const nameOf = (tool: Tool): unknown =>
  tool.type === 'web-search' ? (tool.raw.value.name ?? 'web_search') : tool.name;

/** Covers a choice kept in its wire format, such as `{"type":"web_search"}`. */
const choosesWebSearch = (choice: ModelRequest['toolChoice']): boolean =>
  choice?.type === 'opaque' &&
  isJsonObject(choice.value) &&
  typeof choice.value.type === 'string' &&
  choice.value.type.startsWith('web_search');
