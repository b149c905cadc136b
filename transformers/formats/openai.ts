import Type, { type Static } from 'typebox';
import { bearer, type Call, format, type KnownModels, type Target, traitsOf } from '../../engine/model/transformer.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
  plainEfforts,
  searchModels,
} from '../../protocols/chat/index.ts';
import { openAiModels, responsesUpstream } from '../../protocols/responses/index.ts';
import { openaiFacts } from './facts/openai.ts';

/** The maximum length of a call id, in characters: a conversation from another vendor may have longer ones. */
const maxCallId = 40;

/** OpenAI itself. Source: OpenAI API reference, "Create chat completion"; guide "Reasoning". */
const openAi: ChatDialect = {
  ...plainDialect,
  maxTokens: 'max_completion_tokens',
  rejectedExtra: new Set(['reasoning_content', 'reasoning', 'reasoning_details']),
  reasoning: { form: 'reasoning_effort', efforts: plainEfforts },
  cacheMarks: 'prompt_cache_breakpoint',
  maxCallId,
};

/** Members that only OpenAI is sure to accept: some servers reject a request for one unknown member. */
const ownFields: ReadonlySet<ChatField> = new Set([
  'service_tier',
  'metadata',
  'verbosity',
  'prompt_cache_key',
  'refusal',
  'allowed_tools',
  'custom_tools',
]);

/** Compatible servers without known differences; many return `reasoning_content`. */
const compatible: ChatDialect = {
  ...plainDialect,
  fields: without(plainDialect.fields, ownFields),
  user: undefined,
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: false },
};

/** Members that reasoning models reject. Source: OpenAI guide "Reasoning". */
const sampling: ReadonlySet<ChatField> = new Set([
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'stop',
]);

const efforts = (words: Partial<typeof plainEfforts | Record<string, string>>): ChatDialect['reasoning'] => ({
  form: 'reasoning_effort',
  efforts: { ...plainEfforts, ...words },
});

/**
 * Known limits of OpenAI's models on any server. Source: OpenAI API reference, "Create chat completion"; guides
 * "Reasoning", "Prompt caching"; the API's own errors for tools with reasoning; as of November 2026.
 */
const knownOver = ({ fields, reasoningHistory, maxTokens }: ChatDialect): readonly KnownModels<ChatDialect>[] => [
  searchModels,
  // Other models' own ids may be longer.
  { names: openAiModels.all, differ: { maxCallId } },
  {
    names: openAiModels.reasoning,
    differ: { maxTokens: 'max_completion_tokens', fields: without(fields, sampling), reasoningHistory: undefined },
  },
  { names: openAiModels.withoutReasoning, differ: { maxTokens, fields, reasoningHistory, reasoning: undefined } },
  { names: openAiModels.withoutCacheMarks, differ: { cacheMarks: undefined } },
  {
    names: openAiModels.oSeries,
    differ: { reasoning: efforts({ none: 'low', minimal: 'low', xhigh: 'high', max: 'high' }) },
  },
  { names: openAiModels.firstGpt5, differ: { reasoning: efforts({ none: 'minimal', xhigh: 'high', max: 'high' }) } },
  { names: /^gpt-5\.[45](?!\d)/, differ: { toolsWithoutReasoning: 'asked' } },
  { names: /^gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)/, differ: { toolsWithoutReasoning: 'always' } },
];

const knownByOpenAi = knownOver(openAi);
const knownElsewhere = knownOver(compatible);

function without(fields: ReadonlySet<ChatField>, left: ReadonlySet<ChatField>): ReadonlySet<ChatField> {
  return new Set([...fields].filter((field) => !left.has(field)));
}

const hosts = ['api.openai.com', 'openai.azure.com'];

const isOwn = (baseUrl: URL): boolean =>
  hosts.some((host) => baseUrl.hostname === host || baseUrl.hostname.endsWith(`.${host}`));

const Options = Type.Object(
  {
    api: Type.Optional(
      Type.Union([Type.Literal('chat'), Type.Literal('responses')], {
        description:
          "The protocol to use with the provider. By default, the base URL's path decides; otherwise OpenAI's own " +
          "hosts get Responses for models that reason, unless a chat client's request may pass through, and all others get Chat Completions.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** The preferred protocol of a model. */
interface Api {
  readonly api: 'chat' | 'responses';
}

/**
 * The newest models accept tools only over Responses. Source: OpenAI guide "Migrate to the Responses API", as of
 * November 2026.
 */
const newestApi: Api = { api: 'responses' };

/** Chat Completions supports more for models without reasoning: sampling and stop sequences. */
const knownApis: readonly KnownModels<Api>[] = [{ names: openAiModels.withoutReasoning, differ: { api: 'chat' } }];

/**
 * Models available over Chat Completions only. Source: OpenAI guides "Web search", "Audio and speech", as of November
 * 2026.
 */
const chatOnly: readonly KnownModels<Api>[] = [{ names: /^gpt-.*(?:search|audio)/, differ: { api: 'chat' } }];

const apiOf = ({ baseUrl, model, passes, options: { api } }: Target<Static<typeof Options>>): Api['api'] => {
  if (api !== undefined) return api;
  if (/\/responses\/?$/.test(baseUrl.pathname)) return 'responses';
  // A path beyond a version belongs to Chat Completions: a full one, or that of a deployment.
  if (!isOwn(baseUrl) || /\/chat\/completions\/?$|\/deployments\//.test(baseUrl.pathname)) return 'chat';
  if (passes === 'chat') return 'chat';
  return traitsOf(newestApi, passes === 'responses' ? chatOnly : [...knownApis, ...chatOnly], model).api;
};

/** OpenAI, and servers compatible with its Chat Completions or Responses. */
export const openai = format({
  name: 'openai',
  about: 'Speaks Chat Completions or Responses, to OpenAI and all servers like it.',
  hosts,
  firstStart: {
    title: 'OpenAI',
    variable: 'OPENAI_API_KEY',
    baseUrl: 'https://api.openai.com/v1',
    models: ['gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6-luna'],
  },
  options: Options,
  path: '/v1/chat/completions',
  models: chatModelList,
  facts: openaiFacts,
  pathFor: (target) => (apiOf(target) === 'responses' ? '/v1/responses' : '/v1/chat/completions'),
  protocol(target) {
    if (apiOf(target) === 'responses') return responsesUpstream;
    return isOwn(target.baseUrl) ? chatUpstream(openAi, knownByOpenAi) : chatUpstream(compatible, knownElsewhere);
  },
  headers: (call) => ({ ...bearer(call), ...featuresOf(call) }),
});

/** A Codex client's header: without it the vendor ignores a compaction request. */
const betaFeatures = 'x-codex-beta-features';

const featuresOf = ({ clientHeader }: Call): Readonly<Record<string, string>> => {
  const value = clientHeader(betaFeatures);
  return value === undefined ? {} : { [betaFeatures]: value };
};
