import type { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { messagesTraits } from './dialect.ts';

/** Lowers the request's output limit to the model's maximum: Messages requires a limit and rejects a higher one. */
export const boundOutput = (request: ModelRequest, maxOutput: number, losses: Losses): ModelRequest => {
  const { maxTokens, reasoning, model } = request;
  if (maxTokens !== undefined) {
    if (maxTokens <= maxOutput) return request;
    losses.approximate('max_tokens', `${maxOutput}, the model's maximum`);
    return { ...request, maxTokens: maxOutput };
  }
  const usual = messagesTraits(model).maxTokens;
  const most = reasoning ? usual + Math.max(usual, reasoning.budget ?? 0) : usual;
  return most <= maxOutput ? request : { ...request, maxTokens: maxOutput };
};
