import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordMootLoss, recordReasoningLoss } from '../../../engine/model/record-losses.ts';
import type { Effort, ModelRequest, Reasoning } from '../../../engine/model/request.ts';
import { isOff } from '../../../engine/model/request.ts';
import type { ThinkingControl, ThinkingLevel } from '../dialect.ts';

/**
 * Reasoning controls → `thinkingConfig`. Thoughts are returned unless the client hides them. Source: Gemini API
 * documentation, "Thinking".
 */
export const encodeThinking = (
  { reasoning, maxTokens }: ModelRequest,
  control: ThinkingControl | undefined,
  losses: Losses,
): JsonObject | undefined => {
  if (!reasoning) return undefined;
  const off = isOff(reasoning);
  recordMootLoss(reasoning, losses);
  if (!control) {
    if (!off) recordReasoningLoss(reasoning, losses, 'the model has no such setting');
    return undefined;
  }
  if (reasoning.mode === 'between-tools') losses.approximate('reasoning.mode', 'at any time');
  if (!off && (reasoning.show === 'concise' || reasoning.show === 'detailed')) {
    losses.approximate('reasoning.summary', "the vendor's own summary of thoughts");
  }
  const asked: Reasoning = off ? { effort: 'none' } : reasoning;
  const amount =
    control.form === 'level' ? level(asked, control.levels, losses) : budget(asked, control, maxTokens, losses);
  const includeThoughts = !off && reasoning.show !== 'hidden';
  return { ...amount, ...(includeThoughts && { includeThoughts }) };
};

type Budget = Extract<ThinkingControl, { form: 'budget' }>;

/** The level of each effort, in the order of strength. */
const levelOf = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'XHIGH',
  max: 'XHIGH',
} as const satisfies Record<Effort, ThinkingLevel>;

const inOrder: readonly ThinkingLevel[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'];

const level = (
  { effort, budget }: Reasoning,
  levels: readonly [ThinkingLevel, ...ThinkingLevel[]],
  losses: Losses,
): JsonObject => {
  if (effort !== undefined && budget !== undefined)
    losses.drop('reasoning.budget_tokens', 'the effort takes precedence');
  const wanted = effort ?? (budget === undefined || budget < 0 ? undefined : effortOf(budget));
  if (wanted === undefined) return {};
  const from = inOrder.indexOf(levelOf[wanted]);
  // The next stronger one, else the strongest.
  const thinkingLevel = levels.find((step) => inOrder.indexOf(step) >= from) ?? levels.at(-1) ?? levels[0];
  const path = effort === undefined ? 'reasoning.budget_tokens' : 'reasoning.effort';
  if (effort === undefined || thinkingLevel.toLowerCase() !== wanted) losses.approximate(path, thinkingLevel);
  return { thinkingLevel };
};

/** Effort of a budget in tokens: none at 0, low up to 1024, medium up to 8192, high above. */
const effortOf = (budget: number): Effort => {
  if (budget === 0) return 'none';
  if (budget <= 1024) return 'low';
  return budget <= 8192 ? 'medium' : 'high';
};

/** Tokens of each effort, bounded by the model's range. Source: Gemini API documentation, "OpenAI compatibility". */
const budgets = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
} as const satisfies Record<Effort, number>;

/**
 * The largest share of the output limit for an effort: thoughts count toward the limit, and the answer needs the
 * rest.
 */
const greatestShare = 0.8;

const budget = (
  { effort, budget: asked }: Reasoning,
  control: Budget,
  maxTokens: number | undefined,
  losses: Losses,
): JsonObject => {
  if (asked !== undefined && asked < 0) return { thinkingBudget: -1 };
  if (asked !== undefined) {
    if (effort !== undefined) losses.drop('reasoning.effort', 'the budget takes precedence');
    const thinkingBudget = bounded(asked, control);
    if (thinkingBudget !== asked) losses.approximate('reasoning.budget_tokens', String(thinkingBudget));
    return { thinkingBudget };
  }
  if (effort === undefined) return { thinkingBudget: -1 };
  const room = maxTokens === undefined ? Number.POSITIVE_INFINITY : Math.floor(maxTokens * greatestShare);
  const thinkingBudget =
    effort === 'none' ? bounded(0, control) : bounded(Math.max(Math.min(budgets[effort], room), 1), control);
  if (effort === 'none' && thinkingBudget > 0)
    losses.approximate('reasoning.effort', `${thinkingBudget} tokens: it can't be off`);
  return { thinkingBudget };
};

const bounded = (tokens: number, { least, most, canBeOff }: Budget): number =>
  tokens === 0 && canBeOff ? 0 : Math.min(Math.max(tokens, least), most);
