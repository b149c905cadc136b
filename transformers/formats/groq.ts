import type { KnownModels } from '../../engine/model/transformer.ts';
import { bearer, format, noOptions } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
} from '../../protocols/chat/index.ts';
import { templatesInUse } from './compatible.ts';
import { groqFacts } from './facts/groq.ts';
import { templateRules } from './model-families.ts';

/** Members that keep reasoning out of the text. */
const separateReasoning = { shown: { reasoning_format: 'parsed' }, hidden: { reasoning_format: 'hidden' } };

/** Groq: rejects unknown members, and its models differ widely. Source: Groq API reference. */
const dialect: ChatDialect = {
  ...plainDialect,
  relays: 'none',
  maxTokens: 'max_completion_tokens',
  fields: new Set<ChatField>(['temperature', 'top_p', 'stop', 'seed', 'parallel_tool_calls', 'service_tier']),
  acceptedExtra: new Set([
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
    flex: 'flex',
    priority: 'performance',
  },
  jsonWord: true,
  files: false,
  audio: false,
  reasoning: {
    form: 'reasoning_effort',
    efforts: { none: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' },
  },
  reasoningReply: { when: 'asked', ...separateReasoning },
  reasoningMembers: ['reasoning_format', 'include_reasoning'],
  reasoningTags: ['think'],
  reasoningHistory: { field: 'reasoning', on: 'calls', required: false },
  // Source: recorded traffic.
  breaks: ['role', 'same-head', 'event-line', 'error-members'],
};

const withoutReasoning = { reasoning: undefined, reasoningReply: undefined } as const;

/**
 * Known differences from the newest models. Source: Groq documentation, "Supported Models", "Reasoning", "Structured
 * Outputs", as of November 2026.
 */
const known: readonly KnownModels<ChatDialect>[] = [
  ...templateRules,
  {
    names:
      /^(?:llama-?[1-3](?!\d)|llama-(?:prompt-)?guard|gemma-?[237](?!\d)|mistral-saba|mixtral-8x|allam-2|compound(?!-?\d))/,
    differ: { ...withoutReasoning, images: false, jsonSchema: false },
  },
  { names: /^kimi-k2-instruct/, differ: { ...withoutReasoning, images: false } },
  { names: /^llama-4(?!\d)/, differ: withoutReasoning },
  { names: /^(?:qwen-?[23](?!\d)|qwq|deepseek-r1)/, differ: { jsonSchema: false } },
  { names: /^compound(?!-?\d)/, differ: { webSearch: 'search_settings' } },
  {
    names: /^gpt-oss/,
    differ: {
      images: false,
      reasoning: {
        form: 'reasoning_effort',
        efforts: {
          none: 'low',
          minimal: 'low',
          low: 'low',
          medium: 'medium',
          high: 'high',
          xhigh: 'high',
          max: 'high',
        },
      },
      reasoningReply: { when: 'always', shown: { include_reasoning: true }, hidden: { include_reasoning: false } },
    },
  },
  { names: /^(?:qwen-?3|qwq|deepseek-r1)/, differ: { reasoningReply: { when: 'always', ...separateReasoning } } },
  { names: /^(?:qwen-?3-|qwq|deepseek-r1)/, differ: { images: false } },
  {
    names: /^qwen-?3(?:-|\.[0-7])/,
    differ: {
      reasoning: {
        form: 'reasoning_effort',
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
    },
  },
  { names: /^(?:qwq|deepseek-r1)/, differ: { reasoning: undefined } },
];

export const groq = format({
  name: 'groq',
  about: "Speaks Groq's variant of Chat Completions.",
  hosts: ['api.groq.com'],
  firstStart: {
    title: 'Groq',
    variable: 'GROQ_API_KEY',
    baseUrl: 'https://api.groq.com/openai/v1',
    models: ['openai/gpt-oss-120b', 'openai/gpt-oss-20b'],
  },
  options: noOptions,
  rows: templatesInUse,
  path: '/v1/chat/completions',
  models: chatModelList,
  facts: groqFacts,
  protocol: () => chatUpstream(dialect, known),
  headers: bearer,
});
