import type { FieldNames } from '../../engine/model/wire/client-paths.ts';

/** This protocol's names for the paths in losses. */
export const fieldNames: FieldNames = {
  fields: {
    max_tokens: ['max_completion_tokens', 'max_tokens'],
    user: ['safety_identifier', 'user'],
    'reasoning.effort': ['reasoning_effort'],
    reasoning: ['reasoning_effort'],
  },
  members: {
    strict: ['function.strict'],
    parameters: ['function.parameters'],
    input: ['function.arguments'],
    detail: ['image_url.detail'],
    allowed_domains: ['filters.allowed_domains'],
    blocked_domains: ['filters.blocked_domains'],
    citations: ['annotations'],
  },
};
