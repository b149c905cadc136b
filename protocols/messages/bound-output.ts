import type { ModelRequest } from '../../engine/model/request.ts';
import { messagesTraits } from './dialect.ts';

/** Keeps the default of the output limit, which Messages requires, within the model's maximum. */
export const boundOutput = (request: ModelRequest, maxOutput: number): ModelRequest => {
  const { maxTokens, reasoning, model } = request;
  if (maxTokens !== undefined) return request;
  const usual = messagesTraits(model).maxTokens;
  const most = reasoning ? usual + Math.max(usual, reasoning.budget ?? 0) : usual;
  return most <= maxOutput ? request : { ...request, maxTokens: maxOutput };
};
