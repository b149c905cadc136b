import { format, noOptions } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
} from '../../protocols/chat/index.ts';
import { bearer } from './bearer.ts';

/** DeepSeek: thinks unless told not to, and wants its reasoning back on messages that called tools. Source: DeepSeek API docs. */
const dialect: ChatDialect = {
  ...plainDialect,
  asItCame: 'none',
  fields: new Set<ChatField>(['temperature', 'top_p', 'stop', 'presence_penalty', 'frequency_penalty', 'name']),
  user: { field: 'user_id', fits: /^[a-zA-Z0-9_-]{1,512}$/ },
  maxStops: 16,
  jsonWord: true,
  jsonSchema: undefined,
  images: /vision|-vl/i,
  files: false,
  audio: false,
  // The names of the older models; the newer ones take every choice.
  unforced: { models: /^deepseek-(?:chat|reasoner)/, thinkers: /reasoner/ },
  reasoning: {
    form: 'thinking',
    efforts: { none: 'none', minimal: 'low', low: 'low', medium: 'high', high: 'high', xhigh: 'high', max: 'max' },
    models: /./,
  },
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: true },
  webSearch: undefined,
};

/** What is still being tried out has an address of its own. */
const beta: ChatDialect = { ...dialect, prefix: true, fields: new Set<ChatField>([...dialect.fields, 'strict']) };

const isBeta = (baseUrl: URL): boolean => /\/beta(?:\/|$)/.test(baseUrl.pathname);

export const deepseek = format({
  name: 'deepseek',
  about: 'Speaks Chat Completions as DeepSeek has it, reasoning included.',
  hosts: ['api.deepseek.com'],
  firstStart: {
    variable: 'DEEPSEEK_API_KEY',
    baseUrl: 'https://api.deepseek.com',
    models: ['deepseek-chat', 'deepseek-reasoner'],
  },
  options: noOptions,
  path: '/v1/chat/completions',
  models: chatModelList,
  pathFor: ({ baseUrl }) => (isBeta(baseUrl) ? '/chat/completions' : '/v1/chat/completions'),
  protocol: ({ baseUrl }) => chatUpstream(isBeta(baseUrl) ? beta : dialect),
  headers: bearer,
});
