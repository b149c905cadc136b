import type { Format } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatUpstream,
  plainDialect,
  plainEfforts,
} from '../../protocols/chat/index.ts';
import { bearer } from './bearer.ts';

/** OpenRouter: takes what its many vendors take, and gives their reasoning as `reasoning_details`. Source: OpenRouter API reference. */
const dialect: ChatDialect = {
  ...plainDialect,
  fields: new Set<ChatField>([...plainDialect.fields, 'top_k']),
  cacheMarks: { form: 'cache_control', models: /./ },
  toolImages: true,
  reasoning: { form: 'reasoning', efforts: plainEfforts, models: /./ },
  reasoningHistory: { field: 'reasoning_details', on: 'all', required: false },
  webSearch: { form: 'plugins', models: /./ },
};

export const openrouter: Format = {
  name: 'openrouter',
  hosts: ['openrouter.ai'],
  firstStart: {
    variable: 'OPENROUTER_API_KEY',
    baseUrl: 'https://openrouter.ai/api/v1',
    models: ['anthropic/claude-sonnet-4.5', 'openai/gpt-5.1', 'google/gemini-2.5-pro'],
  },
  path: '/v1/chat/completions',
  protocol: () => chatUpstream(dialect),
  headers: bearer,
};
