import type { KnownModels } from '../../engine/model/transformer.ts';
import { bearer, format, noOptions } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
  thinkingSwitch,
} from '../../protocols/chat/index.ts';
import { templatesInUse } from './compatible.ts';
import { deepseekFacts } from './facts/deepseek.ts';
import { templateRules } from './model-families.ts';

/**
 * DeepSeek: thinks by default, and requires its reasoning back on messages with tool calls. Source: DeepSeek API
 * docs.
 */
const dialect: ChatDialect = {
  ...plainDialect,
  relays: 'none',
  fields: new Set<ChatField>(['temperature', 'top_p', 'stop', 'presence_penalty', 'frequency_penalty', 'name']),
  user: { field: 'user_id', fits: /^[a-zA-Z0-9_-]{1,512}$/ },
  maxStops: 16,
  jsonWord: true,
  jsonSchema: false,
  files: false,
  audio: false,
  reasoning: {
    ...thinkingSwitch,
    efforts: { none: 'none', minimal: 'low', low: 'low', medium: 'high', high: 'high', xhigh: 'high', max: 'max' },
  },
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: true },
  // A reason of its own, `insufficient_system_resource`. Source: DeepSeek API docs, "Create Chat Completion".
  breaks: ['finish-reason'],
};

/**
 * Known limits of older models. Source: DeepSeek API docs, "Models & Pricing", "Thinking Mode", as of November 2026.
 */
const known: readonly KnownModels<ChatDialect>[] = [
  ...templateRules,
  { names: /^deepseek-(?:chat|reasoner|coder|r1|v[123]\b|v4-pro)/, differ: { images: false } },
  { names: /^deepseek-(?:chat|v[123]\b)/, differ: { unforced: 'asked-to-think' } },
  { names: /^deepseek-(?:reasoner|r1)/, differ: { unforced: 'unless-off' } },
];

/** Beta features have a base URL of their own. */
const beta: ChatDialect = {
  ...dialect,
  finalAssistant: 'prefix',
  fields: new Set<ChatField>([...dialect.fields, 'strict']),
};

const isBeta = (baseUrl: URL): boolean => /\/beta(?:\/|$)/.test(baseUrl.pathname);

export const deepseek = format({
  name: 'deepseek',
  about: "Speaks DeepSeek's variant of Chat Completions, reasoning included.",
  hosts: ['api.deepseek.com'],
  firstStart: {
    title: 'DeepSeek',
    variable: 'DEEPSEEK_API_KEY',
    baseUrl: 'https://api.deepseek.com',
    models: ['deepseek-flash'],
  },
  options: noOptions,
  rows: templatesInUse,
  path: '/v1/chat/completions',
  models: chatModelList,
  facts: deepseekFacts,
  pathFor: ({ baseUrl }) => (isBeta(baseUrl) ? '/chat/completions' : '/v1/chat/completions'),
  protocol: ({ baseUrl }) => chatUpstream(isBeta(baseUrl) ? beta : dialect, known),
  headers: bearer,
});
