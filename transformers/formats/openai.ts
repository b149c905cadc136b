import type { Format, Target } from '../../engine/model/transformer.ts';
import { type ChatDialect, chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { bearer } from './bearer.ts';

/** OpenAI itself. Source: OpenAI API reference, "Create chat completion"; guide "Reasoning". */
const openAi: ChatDialect = {
  ...plainDialect,
  maxTokens: 'max_completion_tokens',
  refusedExtra: new Set(['reasoning_content', 'reasoning', 'reasoning_details']),
  rigid: {
    models: /^(?:ft:)?(?:o\d|gpt-5)/,
    refuses: new Set(['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'stop']),
  },
  reasoning: {
    ...plainDialect.reasoning,
    form: 'reasoning_effort',
    efforts: plainDialect.reasoning?.efforts ?? {},
    models: /^(?:ft:)?(?:o\d|gpt-(?:[5-9]|\d\d))/,
  },
  cacheMarks: { form: 'prompt_cache_breakpoint', models: /^gpt-5\.(?:[6-9]|\d\d)/ },
};

/** Servers that speak the same protocol, of which nothing more is known; many think aloud in `reasoning_content`. */
const lookAlike: ChatDialect = {
  ...plainDialect,
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: false },
};

const hosts = ['api.openai.com', 'openai.azure.com'];

const isOwn = ({ baseUrl }: Target): boolean =>
  hosts.some((host) => baseUrl.hostname === host || baseUrl.hostname.endsWith(`.${host}`));

/** OpenAI, and every server that speaks Chat Completions like it. */
export const openai: Format = {
  name: 'openai',
  hosts,
  firstStart: {
    variable: 'OPENAI_API_KEY',
    baseUrl: 'https://api.openai.com/v1',
    models: ['gpt-5.1', 'gpt-5-mini', 'gpt-4.1'],
  },
  path: '/v1/chat/completions',
  protocol: (target) => chatUpstream(isOwn(target) ? openAi : lookAlike),
  headers: bearer,
};
