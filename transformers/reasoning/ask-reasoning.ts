import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest, Reasoning } from '../../engine/model/request.ts';

/**
 * The request with its reasoning controls in the switches' words too. What a client leaves to the model stays with it;
 * `enable: false` overrules the client, which is a loss where it asked for reasoning.
 */
export const askReasoning = (request: ModelRequest, enable: boolean, losses: Losses): ModelRequest => {
  const { reasoning } = request;
  if (!enable) {
    if (wantOf(reasoning) === 'on') losses.drop('reasoning', 'turned off by the configuration');
    return { ...request, reasoning: { mode: 'off', providerWords: off } };
  }
  switch (wantOf(reasoning)) {
    case 'off':
      return { ...request, reasoning: { ...reasoning, providerWords: off } };
    case 'on':
      return { ...request, reasoning: { ...reasoning, providerWords: on(reasoning) } };
    default:
      return request;
  }
};

const off: JsonObject = { enable_thinking: false, thinking: { type: 'disabled' } };

/** The switches know no effort, so that one that the client named goes out in the reference's own word beside them. */
const on = ({ budget, effort }: Reasoning = {}): JsonObject => ({
  enable_thinking: true,
  thinking: { type: 'enabled', ...(budget !== undefined && budget > 0 && { budget_tokens: budget }) },
  ...(effort !== undefined && { reasoning_effort: effort }),
});

/** `undefined`: as the model sees fit. */
const wantOf = (reasoning: Reasoning | undefined): 'on' | 'off' | undefined => {
  const { mode, effort, budget } = reasoning ?? {};
  if (mode === 'off' || effort === 'none' || (mode === undefined && effort === undefined && budget === 0)) return 'off';
  if (mode === 'on' || mode === 'between-tools' || effort !== undefined || (budget ?? 0) > 0) return 'on';
  return undefined;
};
