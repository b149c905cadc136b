import type { Format } from '../../engine/model/transformer.ts';
import { type ChatDialect, chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { bearer } from './bearer.ts';

/** DeepSeek: thinks unless told not to, and wants its reasoning back on messages that called tools. Source: DeepSeek API docs. */
const dialect: ChatDialect = {
  ...plainDialect,
  fields: new Set(['temperature', 'top_p', 'stop', 'presence_penalty', 'frequency_penalty', 'name']),
  user: { field: 'user_id', fits: /^[a-zA-Z0-9_-]{1,512}$/ },
  maxStops: 16,
  jsonSchema: undefined,
  images: /vision|-vl/i,
  files: false,
  audio: false,
  reasoning: {
    form: 'thinking',
    efforts: { none: 'none', minimal: 'low', low: 'low', medium: 'high', high: 'high', xhigh: 'high', max: 'max' },
    models: /./,
  },
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: true },
  webSearch: undefined,
};

export const deepseek: Format = {
  name: 'deepseek',
  hosts: ['api.deepseek.com'],
  firstStart: {
    variable: 'DEEPSEEK_API_KEY',
    baseUrl: 'https://api.deepseek.com',
    models: ['deepseek-chat', 'deepseek-reasoner'],
  },
  path: '/v1/chat/completions',
  protocol: () => chatUpstream(dialect),
  headers: bearer,
};
