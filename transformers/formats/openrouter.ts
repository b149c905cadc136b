import type { KnownModels } from '../../engine/model/transformer.ts';
import { bearer, type Call, format, noOptions } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
  plainEfforts,
} from '../../protocols/chat/index.ts';
import { templatesInUse } from './compatible.ts';
import { openrouterFacts } from './facts/openrouter.ts';
import { templateRules } from './model-families.ts';

/**
 * OpenRouter: accepts what its vendors accept, and returns reasoning as `reasoning_details`. Source: OpenRouter API
 * reference.
 */
const dialect: ChatDialect = {
  ...plainDialect,
  // It drops unknown members silently, and web search is a plugin.
  relays: 'without-web-search',
  fields: new Set<ChatField>([...[...plainDialect.fields].filter((field) => field !== 'custom_tools'), 'top_k']),
  cacheMarks: 'cache_control',
  toolImages: true,
  reasoning: { form: 'reasoning', efforts: plainEfforts },
  reasoningHistory: { field: 'reasoning_details', on: 'all', required: false },
  // Source: recorded traffic; OpenRouter API reference, "Streaming", "Errors".
  breaks: ['role-once', 'call-once', 'finish-once', 'error-members', 'error-last'],
  webSearch: 'plugins',
};

/**
 * Anthropic's models reject reasoning without its signature. Source: OpenRouter documentation, "Preserving
 * reasoning", as of November 2026.
 */
const known: readonly KnownModels<ChatDialect>[] = [
  ...templateRules,
  {
    names: /^claude-/,
    differ: { reasoningHistory: { field: 'reasoning_details', on: 'all', required: false, signed: true } },
  },
];

/**
 * Headers that identify the application in the vendor's rankings. Source: OpenRouter documentation, "App
 * attribution".
 */
const appHeaders = ['http-referer', 'x-openrouter-title', 'x-title'] as const;

const appOf = ({ clientHeader }: Call): Readonly<Record<string, string>> =>
  Object.fromEntries(
    appHeaders.flatMap((name) => {
      const value = clientHeader(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

export const openrouter = format({
  name: 'openrouter',
  about: "Speaks OpenRouter's variant of Chat Completions.",
  hosts: ['openrouter.ai'],
  firstStart: {
    title: 'OpenRouter',
    variable: 'OPENROUTER_API_KEY',
    baseUrl: 'https://openrouter.ai/api/v1',
    models: [
      'anthropic/claude-opus-5.5',
      'openai/gpt-6.2-sol',
      'google/gemini-4-carbon',
      'deepseek/deepseek-v4.1-flash',
    ],
  },
  options: noOptions,
  rows: templatesInUse,
  path: '/v1/chat/completions',
  models: chatModelList,
  facts: openrouterFacts,
  protocol: () => chatUpstream(dialect, known),
  headers: (call) => ({ ...bearer(call), ...appOf(call) }),
});
