import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { unpackSignature } from '../../../engine/model/reasoning/signature.ts';
import { recordMootLoss, recordReasoningLoss } from '../../../engine/model/record-losses.ts';
import type { Effort, ModelRequest, Reasoning } from '../../../engine/model/request.ts';
import type { ResponsesTraits } from '../dialect.ts';

/** Reasoning controls → members of `reasoning`; none if the model's default is right. */
export const encodeReasoning = ({ reasoning }: ModelRequest, traits: ResponsesTraits, losses: Losses): JsonObject => {
  if (!reasoning) return {};
  const off = reasoning.mode === 'off' || reasoning.effort === 'none';
  recordMootLoss(reasoning, losses);
  if (!traits.reasoning) {
    if (!off) recordReasoningLoss(reasoning, losses, 'the model has none');
    return {};
  }
  const asked = off ? 'none' : (reasoning.effort ?? effortOf(reasoning.budget));
  const effort = asked && traits.efforts[asked];
  if (off && effort !== 'none') losses.approximate('reasoning', `effort ${effort}`);
  else if (effort !== asked) losses.approximate('reasoning.effort', effort);
  if (!off && reasoning.effort === undefined && effort)
    losses.approximate('reasoning.budget_tokens', `effort ${effort}`);
  if (!off && reasoning.effort !== undefined && reasoning.budget !== undefined) {
    losses.drop('reasoning.budget_tokens', 'the effort takes precedence');
  }
  if (reasoning.mode === 'between-tools') losses.approximate('reasoning.mode', "the model's default");
  const summary = off ? undefined : summaryOf(reasoning);
  return { ...(effort && { effort }), ...(summary && { summary }) };
};

/** Effort of a token budget; other gateways use the same thresholds. */
const effortOf = (budget: number | undefined): Effort | undefined => {
  if (budget === undefined || budget < 0) return undefined;
  if (budget <= 1024) return 'low';
  return budget <= 8192 ? 'medium' : 'high';
};

/** Clients that enable thinking get a summary; an effort alone requests none. */
const summaryOf = ({ mode, show }: Reasoning): string | undefined => {
  if (show === 'hidden') return undefined;
  return show ?? (mode === undefined ? undefined : 'auto');
};

/** Whether an item holds a payload packed by the gateway, which no vendor can read. */
export const holdsPackedSignature = (body: JsonObject): boolean =>
  Array.isArray(body.input) &&
  body.input.some(
    (item) =>
      isJsonObject(item) &&
      typeof item.encrypted_content === 'string' &&
      unpackSignature(item.encrypted_content) !== undefined,
  );
