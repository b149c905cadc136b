import { format, noOptions } from '../../engine/model/transformer.ts';
import { type ChatDialect, type ChatField, chatUpstream, plainDialect } from '../../protocols/chat/index.ts';

/** Hillside: speaks Chat Completions, refuses what it doesn't know, and thinks aloud in `reasoning_content`. */
const dialect: ChatDialect = {
  ...plainDialect,
  asItCame: 'none',
  maxTokens: 'max_tokens',
  fields: new Set<ChatField>(['temperature', 'top_p', 'stop', 'name']),
  maxStops: 2,
  images: undefined,
  reasoning: {
    form: 'reasoning_effort',
    efforts: { none: 'low', minimal: 'low', low: 'low', medium: 'low', high: 'high', xhigh: 'high', max: 'high' },
    models: /-think$/,
  },
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: false },
};

export const hillside = format({
  name: 'hillside',
  hosts: ['api.hillside.example'],
  firstStart: {
    variable: 'HILLSIDE_API_KEY',
    baseUrl: 'https://api.hillside.example/v1',
    models: ['hill-1', 'hill-1-think'],
  },
  options: noOptions,
  path: '/v1/chat/completions',
  protocol: () => chatUpstream(dialect),
  headers: ({ apiKey }) => ({ 'x-hillside-key': apiKey }),
});
