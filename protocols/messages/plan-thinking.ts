import { dropMoot } from '../../engine/model/drop-reasoning.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Effort, ModelRequest, Reasoning, Turn } from '../../engine/model/request.ts';
import { isNative } from './carried-parts.ts';

/** How the model is to think, and how long the answer may get. */
export interface ThinkingPlan {
  readonly maxTokens: number;
  readonly thinking?: JsonObject | undefined;
  /** For `output_config.effort`. */
  readonly effort?: string | undefined;
  /** Thinking with a budget, which takes no sampling controls beside it. */
  readonly manual: boolean;
}

/**
 * The answer's limit where the client set none: the vendor demands one. As much as a coding agent needs, and never more than the
 * model can give with a thinking budget on top. Source: Anthropic documentation, "Models overview".
 */
const defaultMaxTokens = (model: string): number => {
  if (/claude-(?:[12]|instant|3-(?:opus|sonnet|haiku))/.test(model)) return 4096;
  return /claude-(?!3-5)/.test(model) ? 16_000 : 8192;
};

const leastBudget = 1024;
const greatestBudget = 128_000;

/** The part of the answer that each effort may spend on thinking. Source: OpenRouter documentation, "Reasoning tokens". */
const shares: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};

/**
 * Reasoning controls → `thinking` and effort. What a client of this wire format said stays as it said it; an effort that came
 * in another one becomes a budget, which every model of the vendor that can think has understood at some time.
 * `forced`: a tool must be called. `turns`: the history as it goes out.
 */
export const planThinking = (
  { reasoning, maxTokens, model }: ModelRequest,
  turns: readonly Turn[],
  forced: boolean,
  losses: Losses,
): ThinkingPlan => {
  const plain = { maxTokens: maxTokens ?? defaultMaxTokens(model), manual: false };
  if (!reasoning) return plain;
  const { mode, wire } = reasoning;
  const effort =
    wire === 'messages' || mode === 'adaptive' || mode === 'between-tools' ? effortWord(reasoning, losses) : undefined;
  if (mode === 'off' || (mode === undefined && reasoning.effort === 'none')) {
    if (effort === undefined) dropMoot(reasoning, losses);
    return { ...plain, thinking: { type: 'disabled' }, effort };
  }
  if (mode === undefined && wire === 'messages') return { ...plain, effort };
  const display = displayWord(reasoning, losses);
  if (mode === 'adaptive') return { ...plain, thinking: { type: 'adaptive', display }, effort };
  if (mode === 'between-tools') return { ...plain, thinking: { type: 'between_tools', display }, effort };
  const obstacle = forced ? 'off: a tool must be called' : historyObstacle(turns);
  if (obstacle) {
    losses.approximate('reasoning', obstacle);
    return { ...plain, effort };
  }
  const { budget, limit } = manualBudget(reasoning, maxTokens, defaultMaxTokens(model), losses);
  return { maxTokens: limit, thinking: { type: 'enabled', budget_tokens: budget, display }, effort, manual: true };
};

/** Below the answer's limit and at least the vendor's least; the limit grows only where it leaves no room for that. */
const manualBudget = (
  { budget: asked, effort }: Reasoning,
  maxTokens: number | undefined,
  fallback: number,
  losses: Losses,
): { budget: number; limit: number } => {
  const share = Math.floor((maxTokens ?? fallback) * shares[effort ?? 'medium']);
  const wanted = asked ?? Math.min(share, greatestBudget);
  const budget = Math.max(wanted, leastBudget);
  if (asked !== undefined && budget !== asked) losses.approximate('reasoning.budget_tokens', `${leastBudget} at least`);
  if (maxTokens === undefined) return { budget, limit: budget + fallback };
  if (budget < maxTokens) return { budget, limit: maxTokens };
  if (maxTokens > leastBudget) {
    losses.approximate('reasoning.budget_tokens', 'below max_tokens');
    return { budget: maxTokens - 1, limit: maxTokens };
  }
  losses.approximate('max_tokens', 'raised by the thinking budget');
  return { budget: leastBudget, limit: maxTokens + leastBudget };
};

/** Whether the vendor would refuse a client's request as it is: it asks for thinking where the history doesn't allow it. */
export const historyForbidsThinking = ({ reasoning, turns }: ModelRequest): boolean =>
  reasoning?.mode === 'on' && historyObstacle(turns) !== undefined;

/**
 * Why the vendor would refuse to think with a budget after this history: its last answer must begin with signed thinking when
 * it is still being continued, by tool results or by itself.
 */
const historyObstacle = (turns: readonly Turn[]): string | undefined => {
  const last = turns.at(-1);
  if (last?.role === 'assistant') return 'off: the answer has been begun';
  const answered = turns.findLast((turn) => turn.role === 'assistant');
  if (!answered?.parts.some((part) => part.type === 'tool-call')) return undefined;
  const first = answered.parts[0];
  return first && isNative(first) ? undefined : 'off: the last tool calls come without signed thinking';
};

const effortWord = ({ effort }: Reasoning, losses: Losses): string | undefined => {
  if (effort === undefined || effort === 'none') return undefined;
  if (effort !== 'minimal') return effort;
  losses.approximate('reasoning.effort', 'low');
  return 'low';
};

const displayWord = ({ show }: Reasoning, losses: Losses): string | undefined => {
  if (show === undefined) return undefined;
  if (show === 'concise' || show === 'detailed') losses.approximate('reasoning.summary', 'summarized');
  return show === 'hidden' ? 'omitted' : 'summarized';
};
