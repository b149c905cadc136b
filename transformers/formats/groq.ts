import { format, noOptions } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
} from '../../protocols/chat/index.ts';
import { bearer } from './bearer.ts';

/** Groq: refuses what it doesn't know, and each of its models knows other things. Source: Groq API reference. */
const dialect: ChatDialect = {
  ...plainDialect,
  asItCame: 'none',
  maxTokens: 'max_completion_tokens',
  fields: new Set<ChatField>(['temperature', 'top_p', 'stop', 'seed', 'parallel_tool_calls', 'service_tier']),
  takenExtra: new Set([
    'citation_options',
    'compound_custom',
    'disable_tool_validation',
    'documents',
    'exclude_domains',
    'include_domains',
    'include_reasoning',
    'reasoning_format',
    'search_settings',
  ]),
  serviceTiers: {
    auto: 'auto',
    default: 'on_demand',
    standard_only: 'on_demand',
    on_demand: 'on_demand',
    flex: 'flex',
    priority: 'performance',
    performance: 'performance',
  },
  jsonWord: true,
  images: /llama-4|vision/i,
  files: false,
  audio: false,
  jsonSchema: /gpt-oss|llama-4|kimi-k2/i,
  reasoning: {
    form: 'reasoning_effort',
    efforts: { none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' },
    models: /gpt-oss|qwen3/i,
    special: [
      {
        models: /qwen3\.8/i,
        efforts: {
          none: 'none',
          minimal: 'low',
          low: 'low',
          medium: 'medium',
          high: 'high',
          xhigh: 'high',
          max: 'high',
        },
      },
      {
        models: /qwen3/i,
        efforts: {
          none: 'none',
          minimal: 'default',
          low: 'default',
          medium: 'default',
          high: 'default',
          xhigh: 'default',
          max: 'default',
        },
      },
    ],
  },
  reasoningReply: [
    // By themselves these put it in tags inside the text.
    {
      models: /qwen3|qwq|deepseek-r1/i,
      shown: { reasoning_format: 'parsed' },
      hidden: { reasoning_format: 'hidden' },
    },
    { models: /gpt-oss/i, shown: { include_reasoning: true }, hidden: { include_reasoning: false } },
  ],
  reasoningHistory: { field: 'reasoning', on: 'calls', required: false },
  webSearch: { form: 'search_settings', models: /compound/i },
};

export const groq = format({
  name: 'groq',
  about: 'Speaks Chat Completions as Groq has it.',
  hosts: ['api.groq.com'],
  firstStart: {
    variable: 'GROQ_API_KEY',
    baseUrl: 'https://api.groq.com/openai/v1',
    models: ['openai/gpt-oss-120b', 'llama-3.3-70b-versatile'],
  },
  options: noOptions,
  path: '/v1/chat/completions',
  models: chatModelList,
  protocol: () => chatUpstream(dialect),
  headers: bearer,
});
