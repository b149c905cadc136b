import Type, { type Static } from 'typebox';
import { format, type Target } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
} from '../../protocols/chat/index.ts';
import { responsesUpstream } from '../../protocols/responses/index.ts';
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

/** What only OpenAI itself is sure to take: some servers refuse a request for one member that they don't know. */
const ownFields: ReadonlySet<ChatField> = new Set([
  'service_tier',
  'metadata',
  'verbosity',
  'prompt_cache_key',
  'refusal',
  'allowed_tools',
  'custom_tools',
]);

/** Servers that speak the same protocol, of which nothing more is known; many think aloud in `reasoning_content`. */
const lookAlike: ChatDialect = {
  ...plainDialect,
  fields: new Set([...plainDialect.fields].filter((field) => !ownFields.has(field))),
  user: undefined,
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: false },
};

const hosts = ['api.openai.com', 'openai.azure.com'];

const isOwn = (baseUrl: URL): boolean =>
  hosts.some((host) => baseUrl.hostname === host || baseUrl.hostname.endsWith(`.${host}`));

const Options = Type.Object(
  {
    api: Type.Optional(
      Type.Union([Type.Literal('chat'), Type.Literal('responses')], {
        description: 'Which of its two protocols the provider is spoken to in; by default the base URL tells.',
      }),
    ),
  },
  { additionalProperties: false },
);

const speaksResponses = ({ baseUrl, options: { api } }: Target<Static<typeof Options>>): boolean =>
  api === undefined ? /\/responses\/?$/.test(baseUrl.pathname) : api === 'responses';

/** OpenAI, and every server that speaks Chat Completions or Responses like it. */
export const openai = format({
  name: 'openai',
  about: 'Speaks Chat Completions or Responses, to OpenAI and all servers like it.',
  hosts,
  firstStart: {
    variable: 'OPENAI_API_KEY',
    baseUrl: 'https://api.openai.com/v1',
    models: ['gpt-5.1', 'gpt-5-mini', 'gpt-4.1'],
  },
  options: Options,
  path: '/v1/chat/completions',
  models: chatModelList,
  pathFor: (target) => (speaksResponses(target) ? '/v1/responses' : '/v1/chat/completions'),
  protocol(target) {
    if (speaksResponses(target)) return responsesUpstream;
    return chatUpstream(isOwn(target.baseUrl) ? openAi : lookAlike);
  },
  headers: bearer,
});
