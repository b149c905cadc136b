import { dropMoot, dropReasoning } from '../../engine/model/drop-reasoning.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Effort, ModelRequest, Reasoning } from '../../engine/model/request.ts';
import { leastEffort, reasoningOf } from './model-traits.ts';

/** How much the model is to think → members of `reasoning`; none where the model's default will do. */
export const encodeReasoning = ({ reasoning, model }: ModelRequest, losses: Losses): JsonObject => {
  if (!reasoning) return {};
  const off = reasoning.mode === 'off' || reasoning.effort === 'none';
  dropMoot(reasoning, losses);
  if (reasoningOf(model) === 'never') {
    if (!off) dropReasoning(reasoning, losses, 'the model has none');
    return {};
  }
  const effort = off ? leastOf(model, losses) : (reasoning.effort ?? effortOf(reasoning.budget));
  if (!off && reasoning.effort === undefined && effort)
    losses.approximate('reasoning.budget_tokens', `effort ${effort}`);
  if (!off && reasoning.effort !== undefined && reasoning.budget !== undefined) {
    losses.drop('reasoning.budget_tokens', 'the effort counts');
  }
  if (reasoning.mode === 'between-tools') losses.approximate('reasoning.mode', "the model's default");
  const summary = off ? undefined : summaryOf(reasoning);
  return { ...(effort && { effort }), ...(summary && { summary }) };
};

const leastOf = (model: string, losses: Losses): Effort => {
  const least = leastEffort(model);
  if (least !== 'none') losses.approximate('reasoning', `effort ${least}`);
  return least;
};

/** The effort that a token budget stands for; the thresholds are those of other gateways. */
const effortOf = (budget: number | undefined): Effort | undefined => {
  if (budget === undefined || budget < 0) return undefined;
  if (budget <= 1024) return 'low';
  return budget <= 8192 ? 'medium' : 'high';
};

/** Clients that switch thinking on want to see it; those that name an effort alone don't say so. */
const summaryOf = ({ mode, show }: Reasoning): string | undefined => {
  if (show === 'hidden') return undefined;
  return show ?? (mode === undefined ? undefined : 'auto');
};
