import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordMootLoss } from '../../../engine/model/record-losses.ts';
import type { Effort, ModelRequest, Reasoning, Turn } from '../../../engine/model/request.ts';
import { isOff } from '../../../engine/model/request.ts';
import { type MessagesTraits, messagesTraits } from '../dialect.ts';
import { isNative } from './encode-messages.ts';

/** The thinking controls and the output limit. */
export interface ThinkingPlan {
  readonly maxTokens: number;
  readonly thinking?: JsonObject | undefined;
  /** The value of `output_config.effort`. */
  readonly effort?: string | undefined;
  /** Thinking with a budget, which excludes sampling controls. */
  readonly manual: boolean;
}

const leastBudget = 1024;
const greatestBudget = 128_000;

/** The share of the output limit that each effort may think. Source: OpenRouter documentation, "Reasoning tokens". */
const shares: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};

/** The inputs of a plan. */
interface Wanted {
  readonly request: ModelRequest;
  readonly reasoning: Reasoning;
  readonly traits: MessagesTraits;
  /** The history as sent upstream. */
  readonly turns: readonly Turn[];
  /** A tool call is forced. */
  readonly forced: boolean;
  readonly losses: Losses;
}

/**
 * Reasoning controls → `thinking` and effort. Older models need a budget; newer ones choose the amount by the effort.
 */
export const planThinking = (
  request: ModelRequest,
  traits: MessagesTraits,
  turns: readonly Turn[],
  forced: boolean,
  losses: Losses,
): ThinkingPlan => {
  const { reasoning, maxTokens } = request;
  if (!reasoning) return { maxTokens: maxTokens ?? traits.maxTokens, manual: false };
  const wanted = { request, reasoning, traits, turns, forced, losses };
  if (!traits.signs) return planForOthers(wanted);
  const { wire, mode } = reasoning;
  if (wire === 'messages' && mode === 'off' && !traits.isKnown) return planOff(wanted);
  const stays = wire === 'messages' && mode === 'on' && traits.budgets && !forced && !historyObstacle(turns);
  return traits.thinking === 'budget' || stays ? planBudget(wanted) : planAdaptive(wanted);
};

/** A budget stays a budget where there are any, and thinking may follow any history. */
const planForOthers = (wanted: Wanted): ThinkingPlan => {
  const { request, reasoning, traits, losses } = wanted;
  const { mode, wire, budget } = reasoning;
  if (wire === 'messages' && mode === 'off') return planOff(wanted);
  const takesBudget = wire === 'messages' || traits.switchedBy !== 'effort';
  if (mode !== 'on' || budget === undefined || !takesBudget) return planAdaptive({ ...wanted, forced: false });
  const effort = effortWord(reasoning, traits, losses);
  const display = displayWord(reasoning, losses);
  const fitting =
    wire === 'messages'
      ? { budget, limit: request.maxTokens ?? traits.maxTokens }
      : manualBudget(reasoning, request.maxTokens, traits.maxTokens, losses);
  const thinking = { type: 'enabled', budget_tokens: fitting.budget, display };
  return { maxTokens: fitting.limit, thinking, effort, manual: false };
};

/**
 * The thinking control, for a history with thinking: what doesn't fit its place is left out instead of refused. Stages may change
 * what is before it. The option needs the beta `bindingBeta`.
 */
export const bindThinking = (
  thinking: JsonObject | undefined,
  { binds, canBeOff }: MessagesTraits,
  turns: readonly Turn[],
): JsonObject | undefined => {
  if (!binds || !turns.some(({ parts }) => parts.some(isNative))) return thinking;
  // Thinking that can't be switched off is on without a control, too.
  const control = thinking ?? (canBeOff ? undefined : { type: 'adaptive' });
  if (control?.type !== 'adaptive' && control?.type !== 'enabled') return thinking;
  return { ...control, block_binding: { prefix_mismatch_behavior: 'drop_block' } };
};

/** The beta that a converted request needs, if any. */
export const bindingBetaOf = ({ model, turns }: ModelRequest): string | undefined =>
  messagesTraits(model, 'vendor').binds && turns.some(({ parts }) => parts.some(isNative)) ? bindingBeta : undefined;

const bindingBeta = 'thinking-binding-controls-2026-08-01';

const planOff = ({ request, reasoning, traits, losses }: Wanted): ThinkingPlan => {
  const asked = reasoning.wire === 'messages' ? effortWord(reasoning, traits, losses) : undefined;
  const effort = traits.offUpToHigh && (asked === 'xhigh' || asked === 'max') ? 'high' : asked;
  if (effort !== asked) losses.approximate('reasoning.effort', 'high: more needs thinking');
  if (effort === undefined) recordMootLoss(reasoning, losses);
  const maxTokens = request.maxTokens ?? traits.maxTokens;
  return { maxTokens, thinking: { type: 'disabled' }, effort, manual: false };
};

const planAdaptive = (wanted: Wanted): ThinkingPlan => {
  const { request, reasoning, traits, forced, losses } = wanted;
  const plain = { maxTokens: request.maxTokens ?? traits.maxTokens, manual: false };
  const { mode, wire, budget } = reasoning;
  if (isOff(reasoning)) {
    if (traits.canBeOff) return planOff(wanted);
    recordMootLoss(reasoning, losses);
    losses.approximate('reasoning', "effort low: it can't be off");
    return { ...plain, effort: 'low' };
  }
  if (mode === undefined && wire === 'messages') return { ...plain, effort: effortWord(reasoning, traits, losses) };
  const display = displayWord(reasoning, losses);
  const effort = effortWord(reasoning, traits, losses) ?? budgetWord(budget, traits, losses);
  if (reasoning.effort !== undefined && budget !== undefined) {
    losses.drop('reasoning.budget_tokens', 'the effort takes precedence');
  }
  // Thinking counts toward the limit, and the answer needs its share.
  const roomy = { maxTokens: request.maxTokens ?? 2 * traits.maxTokens, manual: false };
  if (mode === 'adaptive') return { ...roomy, thinking: { type: 'adaptive', display }, effort };
  if (mode === 'between-tools') return { ...roomy, thinking: { type: 'between_tools', display }, effort };
  if (forced) {
    losses.approximate('reasoning', toolForced);
    return { ...plain, effort };
  }
  return { ...roomy, thinking: switchedOn(reasoning, traits, display, losses), effort };
};

/** The member that switches thinking on without a budget. */
const switchedOn = (
  { show }: Reasoning,
  { switchedBy }: MessagesTraits,
  display: string | undefined,
  losses: Losses,
): JsonObject | undefined => {
  if (switchedBy === 'adaptive') return { type: 'adaptive', display };
  if (show === 'hidden') losses.drop('reasoning.summary');
  return switchedBy === 'enabled' ? { type: 'enabled' } : undefined;
};

const planBudget = (wanted: Wanted): ThinkingPlan => {
  const { request, reasoning, traits, turns, forced, losses } = wanted;
  const plain = { maxTokens: request.maxTokens ?? traits.maxTokens, manual: false };
  const { mode, wire } = reasoning;
  if (isOff(reasoning)) return planOff(wanted);
  // Newer models' controls become a budget; an explicit budget keeps its own controls.
  const newer = mode === 'adaptive' || mode === 'between-tools';
  if (newer) {
    losses.approximate('reasoning.mode', 'a budget');
    if (reasoning.effort !== undefined) losses.approximate('reasoning.effort', 'a budget');
  }
  const effort = wire === 'messages' && !newer ? effortWord(reasoning, traits, losses) : undefined;
  if (mode === undefined && wire === 'messages') return { ...plain, effort };
  const display = displayWord(reasoning, losses);
  const obstacle = forced ? toolForced : historyObstacle(turns);
  if (obstacle) {
    losses.approximate('reasoning', obstacle);
    return { ...plain, effort };
  }
  const { budget, limit } = manualBudget(reasoning, request.maxTokens, traits.maxTokens, losses);
  return { maxTokens: limit, thinking: { type: 'enabled', budget_tokens: budget, display }, effort, manual: true };
};

const toolForced = 'off: a tool call is required';

/** Effort of a budget in tokens: low up to 1024, medium up to 8192, high above, or the nearest; none for a negative one. */
const budgetWord = (budget: number | undefined, { efforts }: MessagesTraits, losses: Losses): string | undefined => {
  if (budget === undefined || budget < 0) return undefined;
  const asked = budget <= 1024 ? 'low' : budget <= 8192 ? 'medium' : 'high';
  const effort = efforts?.[asked] ?? asked;
  losses.approximate('reasoning.budget_tokens', `effort ${effort}`);
  return effort;
};

/**
 * Keeps the budget below the output limit and above the vendor's minimum; raises the limit only if that leaves no
 * room.
 */
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

/** Whether the vendor would reject a client's unchanged request: its history doesn't allow the requested thinking. */
export const historyForbidsThinking = ({ reasoning, turns }: ModelRequest, { signs }: MessagesTraits): boolean =>
  signs && reasoning?.mode === 'on' && historyObstacle(turns) !== undefined;

/**
 * Why the vendor would reject budgeted thinking after this history: a last assistant turn that is still continued, by
 * tool results or a prefill, must start with signed thinking.
 */
const historyObstacle = (turns: readonly Turn[]): string | undefined => {
  const last = turns.at(-1);
  if (last?.role === 'assistant') return 'off: the answer has already begun';
  const answered = turns.findLast((turn) => turn.role === 'assistant');
  if (!answered?.parts.some((part) => part.type === 'tool-call')) return undefined;
  const first = answered.parts[0];
  return first && isNative(first) ? undefined : 'off: the last tool calls lack signed thinking';
};

const effortWord = (
  { effort }: Reasoning,
  { efforts }: MessagesTraits,
  losses: Losses,
): Exclude<Effort, 'none'> | undefined => {
  if (effort === undefined || effort === 'none') return undefined;
  const word = efforts?.[effort];
  if (word === undefined || word === 'none') {
    losses.drop('reasoning.effort', 'the model has no efforts');
    return undefined;
  }
  if (word !== effort) losses.approximate('reasoning.effort', word);
  return word;
};

const displayWord = ({ show }: Reasoning, losses: Losses): string | undefined => {
  if (show === undefined) return undefined;
  if (show === 'concise' || show === 'detailed') losses.approximate('reasoning.summary', 'summarized');
  return show === 'hidden' ? 'omitted' : 'summarized';
};
