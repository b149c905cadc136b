import type { FieldNames } from '../../engine/model/wire/client-paths.ts';

/** This protocol's names for the paths in losses. */
export const fieldNames: FieldNames = {
  fields: {
    max_tokens: ['max_output_tokens'],
    user: ['user', 'safety_identifier'],
    response_format: ['text.format'],
    verbosity: ['text.verbosity'],
    'reasoning.effort': ['reasoning.effort'],
    'reasoning.summary': ['reasoning.summary', 'reasoning.generate_summary'],
    reasoning: ['reasoning'],
    messages: ['input'],
    // The conversation's items may declare tools too.
    tools: ['tools', 'input'],
  },
  members: {
    cache_control: ['prompt_cache_breakpoint'],
    citations: ['annotations'],
    input: ['arguments'],
    title: ['filename'],
    allowed_domains: ['filters.allowed_domains'],
    blocked_domains: ['filters.blocked_domains'],
  },
};
