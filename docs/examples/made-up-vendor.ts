import { format, noOptions } from '../../engine/model/transformer.ts';
import { type ChatDialect, type ChatField, chatUpstream, plainDialect } from '../../protocols/chat/index.ts';

/** Hillside: speaks Chat Completions, refuses what it doesn't know, and thinks aloud in `reasoning_content`. */
const dialect: ChatDialect = {
  ...plainDialect,
  relays: 'none',
  maxTokens: 'max_tokens',
  fields: new Set<ChatField>(['temperature', 'top_p', 'stop', 'name']),
  maxStops: 2,
  images: false,
  reasoning: {
    form: 'reasoning_effort',
    efforts: { none: 'low', minimal: 'low', low: 'low', medium: 'low', high: 'high', xhigh: 'high', max: 'high' },
  },
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: false },
};

/** Models that differ from the newest ones; a name that isn't known is taken for one of these. */
const known = [{ names: /^hill-1$/, differ: { reasoning: undefined } }];

export const hillside = format({
  name: 'hillside',
  hosts: ['api.hillside.example'],
  firstStart: {
    title: 'Hillside',
    variable: 'HILLSIDE_API_KEY',
    baseUrl: 'https://api.hillside.example/v1',
    models: ['hill-1', 'hill-1-think'],
  },
  options: noOptions,
  path: '/v1/chat/completions',
  protocol: () => chatUpstream(dialect, known),
  headers: ({ apiKey }) => ({ 'x-hillside-key': apiKey }),
});
