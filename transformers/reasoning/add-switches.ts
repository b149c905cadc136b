import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest, Reasoning } from '../../engine/model/request.ts';

/**
 * Adds the switches for the request's reasoning controls; without controls the model decides. `enable: false`
 * overrides the client, which is a loss if it requested reasoning.
 */
export const addReasoningSwitches = (request: ModelRequest, enable: boolean, losses: Losses): ModelRequest => {
  const { reasoning } = request;
  if (!enable) {
    if (wantOf(reasoning) === 'on') losses.drop('reasoning', 'turned off by the configuration');
    return { ...request, reasoning: { mode: 'off', providerMembers: off } };
  }
  switch (wantOf(reasoning)) {
    case 'off':
      return { ...request, reasoning: { ...reasoning, providerMembers: off } };
    case 'on':
      return { ...request, reasoning: { ...reasoning, providerMembers: on(reasoning) } };
    default:
      return request;
  }
};

const off: JsonObject = { enable_thinking: false, thinking: { type: 'disabled' } };

/** The switches have no effort, so the client's is also sent as `reasoning_effort`. */
const on = ({ budget, effort }: Reasoning = {}): JsonObject => ({
  enable_thinking: true,
  thinking: { type: 'enabled', ...(budget !== undefined && budget > 0 && { budget_tokens: budget }) },
  ...(effort !== undefined && { reasoning_effort: effort }),
});

/** `undefined`: the model decides. */
const wantOf = (reasoning: Reasoning | undefined): 'on' | 'off' | undefined => {
  const { mode, effort, budget } = reasoning ?? {};
  if (mode === 'off' || effort === 'none' || (mode === undefined && effort === undefined && budget === 0)) return 'off';
  if (mode === 'on' || mode === 'between-tools' || effort !== undefined || (budget ?? 0) > 0) return 'on';
  return undefined;
};
