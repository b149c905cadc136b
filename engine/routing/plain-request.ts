import type { ModelRequest } from '../model/request.ts';

/** A request that asks for nothing but a model: what a rule says of the name alone. */
export const plainRequest = (model: string): ModelRequest => ({
  model,
  system: [],
  turns: [],
  tools: [],
  stream: false,
});
