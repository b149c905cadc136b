import { type Call, format, noOptions } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
  plainEfforts,
} from '../../protocols/chat/index.ts';
import { bearer } from './bearer.ts';

/** OpenRouter: takes what its many vendors take, and gives their reasoning as `reasoning_details`. Source: OpenRouter API reference. */
const dialect: ChatDialect = {
  ...plainDialect,
  // It drops what it doesn't know without a word, and a web search is a plugin here.
  asItCame: 'without-web-search',
  fields: new Set<ChatField>([...plainDialect.fields, 'top_k']),
  cacheMarks: { form: 'cache_control', models: /./ },
  toolImages: true,
  reasoning: { form: 'reasoning', efforts: plainEfforts, models: /./ },
  reasoningHistory: { field: 'reasoning_details', on: 'all', required: false, sealed: /claude/i },
  webSearch: { form: 'plugins', models: /./ },
};

/** Which application asks; the vendor ranks them. Source: OpenRouter documentation, "App attribution". */
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
  about: 'Speaks Chat Completions as OpenRouter has it.',
  hosts: ['openrouter.ai'],
  firstStart: {
    variable: 'OPENROUTER_API_KEY',
    baseUrl: 'https://openrouter.ai/api/v1',
    models: ['anthropic/claude-sonnet-4.5', 'openai/gpt-5.1', 'google/gemini-2.5-pro'],
  },
  options: noOptions,
  path: '/v1/chat/completions',
  models: chatModelList,
  protocol: () => chatUpstream(dialect),
  headers: (call) => ({ ...bearer(call), ...appOf(call) }),
});
