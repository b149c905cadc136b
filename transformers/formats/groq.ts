import type { Format } from '../../engine/model/transformer.ts';
import { type ChatDialect, chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { bearer } from './bearer.ts';

/** Groq: refuses what it doesn't know, and each of its models knows other things. Source: Groq API reference. */
const dialect: ChatDialect = {
  ...plainDialect,
  maxTokens: 'max_completion_tokens',
  fields: new Set(['temperature', 'top_p', 'stop', 'seed', 'parallel_tool_calls', 'service_tier']),
  images: /llama-4|vision/i,
  files: false,
  audio: false,
  jsonSchema: /gpt-oss|llama-4|kimi-k2/i,
  reasoning: {
    form: 'reasoning_effort',
    efforts: { none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' },
    models: /gpt-oss|qwen3\.8/i,
  },
  reasoningHistory: { field: 'reasoning', on: 'calls', required: false },
  webSearch: { form: 'search_settings', models: /compound/i },
};

export const groq: Format = {
  name: 'groq',
  hosts: ['api.groq.com'],
  firstStart: {
    variable: 'GROQ_API_KEY',
    baseUrl: 'https://api.groq.com/openai/v1',
    models: ['openai/gpt-oss-120b', 'llama-3.3-70b-versatile'],
  },
  path: '/v1/chat/completions',
  protocol: () => chatUpstream(dialect),
  headers: bearer,
};
