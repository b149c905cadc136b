import type { ModelRequest } from '../model/request.ts';

/** A request with only a model, to see what the rules make of its name. */
export const probeRequest = (model: string): ModelRequest => ({
  model,
  system: [],
  turns: [],
  tools: [],
  stream: false,
});
