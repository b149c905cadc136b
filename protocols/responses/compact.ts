import { decodePartialRequest } from './decode-request/decode-request.ts';

/** The vendor's compaction endpoint. Source: OpenAI API reference, "Compact a response". */
export const responsesCompaction = {
  decodeRequest: decodePartialRequest,
  upstream: {
    suffix: '/compact',
    fields: new Set([
      'model',
      'input',
      'instructions',
      'previous_response_id',
      'prompt_cache_key',
      'prompt_cache_options',
      'prompt_cache_retention',
      'service_tier',
      'tools',
      'parallel_tool_calls',
      'reasoning',
      'text',
    ]),
  },
};
