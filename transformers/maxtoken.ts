import Type from 'typebox';
import { transformer } from '../engine/model/transformer.ts';

/** Caps the output limit, for providers that reject a higher one than they support. */
export const maxtoken = transformer({
  name: 'maxtoken',
  about: 'Caps the output limit, for providers that reject higher ones.',
  options: Type.Object({
    max_tokens: Type.Integer({
      minimum: 1,
      description: 'The highest output limit that the provider accepts, in tokens.',
    }),
  }),
  request(request, { max_tokens: cap }, losses) {
    if (request.maxTokens !== undefined && request.maxTokens > cap)
      losses.approximate('max_tokens', `capped at ${cap}`);
    return { ...request, maxTokens: Math.min(request.maxTokens ?? cap, cap) };
  },
});
