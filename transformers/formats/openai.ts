import Type, { type Static } from 'typebox';
import { cloudAt } from '../../engine/model/clouds.ts';
import type { UpstreamProtocol } from '../../engine/model/protocol.ts';
import { bearer, type Call, format, type KnownModels, type Target, traitsOf } from '../../engine/model/transformer.ts';
import { shortCallIds } from '../../engine/model/wire/call-ids.ts';
import { nearestEfforts } from '../../engine/model/wire/efforts.ts';
import {
  type ChatDialect,
  type ChatField,
  chatModelList,
  chatUpstream,
  plainDialect,
  plainEfforts,
  searchModels,
} from '../../protocols/chat/index.ts';
import {
  narrowResponsesUpstream,
  openAiEfforts,
  openAiModels,
  responsesUpstream,
  responsesUpstreamWithout,
} from '../../protocols/responses/index.ts';
import { atBedrock } from './bedrock.ts';
import { isAboveModels } from './clouds.ts';
import { compatibleDialect, isUnversioned, rowsInUse } from './compatible.ts';
import { without } from './dialect-row.ts';
import { openaiFacts } from './facts/openai.ts';
import { hostRows } from './hosts.ts';
import { modelFamilies, templateRules } from './model-families.ts';

/** OpenAI itself. Source: OpenAI API reference, "Create chat completion"; guide "Reasoning". */
const openAi: ChatDialect = {
  ...plainDialect,
  maxTokens: 'max_completion_tokens',
  rejectedExtra: new Set(['reasoning_content', 'reasoning', 'reasoning_details']),
  reasoning: { form: 'reasoning_effort', efforts: plainEfforts },
  cacheMarks: 'prompt_cache_breakpoint',
  callIds: shortCallIds,
};

/** Members that reasoning models reject. Source: OpenAI guide "Reasoning". */
const sampling: ReadonlySet<ChatField> = new Set([
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'stop',
  'logprobs',
]);

/** Efforts over Chat Completions, which has no `max`. */
const effortsOver: readonly KnownModels<ChatDialect>[] = openAiEfforts.map(
  ({ names, efforts: [least, ...others] }) => ({
    names,
    differ: {
      reasoning: {
        form: 'reasoning_effort',
        efforts: nearestEfforts(least, ...others.filter((effort) => effort !== 'max')),
      },
    },
  }),
);

/**
 * Known limits of OpenAI's models on any server. Source: OpenAI API reference, "Create chat completion"; guides
 * "Reasoning", "Prompt caching"; the API's own errors for tools with reasoning; as of November 2026.
 */
const knownOver = ({
  fields,
  refused,
  reasoningHistory,
  maxTokens,
}: ChatDialect): readonly KnownModels<ChatDialect>[] => [
  searchModels,
  { names: openAiModels.all, differ: { callIds: shortCallIds } },
  {
    names: openAiModels.reasoning,
    differ: {
      maxTokens: 'max_completion_tokens',
      fields: without(fields, sampling),
      refused: new Set([...refused, ...sampling]),
      reasoningHistory: undefined,
    },
  },
  {
    names: openAiModels.withoutReasoning,
    differ: { maxTokens, fields, refused, reasoningHistory, reasoning: undefined },
  },
  { names: openAiModels.withoutCacheMarks, differ: { cacheMarks: undefined } },
  ...effortsOver,
  { names: /^gpt-5\.[45](?!\d)/, differ: { toolsWithoutReasoning: 'asked' } },
  { names: /^gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)/, differ: { toolsWithoutReasoning: 'always' } },
];

const ownUpstream = chatUpstream(openAi, [...templateRules, ...knownOver(openAi)]);

/** Azure's hosts, which need their key in a header of its own. Source: Azure OpenAI documentation, "API lifecycle". */
const azureHosts = ['openai.azure.com', 'cognitiveservices.azure.com', 'services.ai.azure.com'];
const hosts = ['api.openai.com', ...azureHosts];

const isAt = ({ hostname }: URL, names: readonly string[]): boolean =>
  names.some((host) => hostname.endsWith(host) && (hostname === host || hostname.endsWith(`.${host}`)));

const isOwn = (baseUrl: URL): boolean => isAt(baseUrl, hosts);
/**
 * Hosts of others that take OpenAI's whole Responses protocol, except what they are known to refuse. Sources: their API references
 * and client libraries; reports of their users, as of November 2026.
 */
const fullResponses: readonly { readonly host: string; readonly upstream: UpstreamProtocol }[] = [
  { host: 'api.x.ai', upstream: responsesUpstream },
  { host: 'openrouter.ai', upstream: responsesUpstream },
  { host: 'githubcopilot.com', upstream: responsesUpstreamWithout('service_tier') },
  {
    host: 'chatgpt.com',
    upstream: responsesUpstreamWithout('max_output_tokens', 'safety_identifier', 'prompt_cache_retention'),
  },
];

const responsesAt = ({ baseUrl, options }: Target<Static<typeof Options>>): UpstreamProtocol => {
  if (options.fullResponses === false) return narrowResponsesUpstream;
  const known = fullResponses.find(({ host }) => isAt(baseUrl, [host]));
  if (known) return known.upstream;
  return options.fullResponses || isOwn(baseUrl) ? responsesUpstream : narrowResponsesUpstream;
};

const isAzure = (baseUrl: URL): boolean => isAt(baseUrl, azureHosts);

const Options = Type.Object(
  {
    api: Type.Optional(
      Type.Union([Type.Literal('chat'), Type.Literal('responses')], {
        description:
          "The protocol to use with the provider. By default, the base URL's path decides; otherwise OpenAI's own " +
          "hosts get Responses for models that reason, unless a chat client's request may pass through, and all others get Chat Completions.",
      }),
    ),
    host: Type.Optional(
      Type.Enum(['none', ...hostRows.map(({ name }) => name)], {
        description:
          'Which known host the provider is, or is like. By default, the base URL decides. `none`: the form that all ' +
          'compatible servers accept.',
      }),
    ),
    family: Type.Optional(
      Type.Enum(['none', ...modelFamilies.map(({ name }) => name)], {
        description: "The family of the provider's models, where their names don't show it. `none`: no known one.",
      }),
    ),
    streamUsage: Type.Optional(
      Type.Boolean({
        description:
          'Whether streams over Chat Completions are asked for their usage (`stream_options`), so that their tokens are ' +
          "counted. `false` is for servers that refuse the field. By default, the host's row decides; all others are asked.",
      }),
    ),
    fullResponses: Type.Optional(
      Type.Boolean({
        description:
          'Whether the server takes all of the Responses protocol, as a proxy before OpenAI does. Otherwise converted requests ' +
          "lack what many servers refuse, such as `include` and `store`. By default, the host's row decides; all others lack it.",
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

const apiOf = ({ baseUrl, model, relays, options: { api } }: Target<Static<typeof Options>>): Api['api'] => {
  if (api !== undefined) return api;
  if (/\/responses\/?$/.test(baseUrl.pathname)) return 'responses';
  // A path beyond a version belongs to Chat Completions: a full one, or that of a deployment.
  if (!isOwn(baseUrl) || /\/chat\/completions\/?$|\/deployments\//.test(baseUrl.pathname)) return 'chat';
  if (relays === 'chat') return 'chat';
  return traitsOf(newestApi, relays === 'responses' ? chatOnly : [...knownApis, ...chatOnly], model).api;
};

/**
 * What precedes the name of an endpoint. Azure's paths start with `openai/v1`, those of a deployment have no version; Vertex AI's
 * models of other vendors have an endpoint below the project. Sources: Azure OpenAI documentation, "REST API reference"; Google
 * Cloud documentation, "Call MaaS APIs for open models"; Amazon Bedrock user guide, "Generate responses using OpenAI APIs".
 */
const rootOf = (target: Target<Static<typeof Options>>): string => {
  const { baseUrl } = target;
  if (isAzure(baseUrl)) return /\/deployments\/|\/models\/?$/.test(baseUrl.pathname) ? '' : '/openai/v1';
  const cloud = cloudAt(baseUrl)?.name;
  if (cloud === 'vertex') return '/v1/endpoints/openapi';
  if (cloud === 'bedrock' && isAboveModels(baseUrl)) return '/openai/v1';
  return isUnversioned(target) ? '' : '/v1';
};

const pathOf = (target: Target<Static<typeof Options>>): string =>
  rootOf(target) + (apiOf(target) === 'responses' ? '/responses' : '/chat/completions');

/** Each call asks for the path of its plan's target. */
const paths = new WeakMap<Target, string>();

const apiKeyHeader = ({ apiKey }: Call): Readonly<Record<string, string>> =>
  apiKey === '' ? {} : { 'api-key': apiKey };

/** OpenAI, and servers compatible with its Chat Completions or Responses. */
export const openai = format({
  name: 'openai',
  about: 'Speaks Chat Completions or Responses, to OpenAI and all servers like it.',
  hosts,
  firstStart: {
    title: 'OpenAI',
    variable: 'OPENAI_API_KEY',
    baseUrl: 'https://api.openai.com/v1',
    models: ['gpt-6.2-sol', 'gpt-6.1-terra', 'gpt-6-luna'],
  },
  options: Options,
  pathEnds: ['/chat/completions', '/responses', '/v1beta/openai', '/v1/openai'],
  path: '/v1/chat/completions',
  models: chatModelList,
  facts: openaiFacts,
  pathFor(target, request) {
    const path = paths.get(target) ?? pathOf(target);
    paths.set(target, path);
    return request.compaction?.byPath ? `${path}/compact` : path;
  },
  rows: (target) => (apiOf(target) === 'responses' || isOwn(target.baseUrl) ? [] : rowsInUse(target)),
  protocol(target) {
    if (apiOf(target) === 'responses') return responsesAt(target);
    const { streamUsage } = target.options;
    const own = isOwn(target.baseUrl);
    if (own && streamUsage === undefined) return ownUpstream;
    const dialect = own ? openAi : compatibleDialect(target);
    const chosen = streamUsage === undefined ? dialect : { ...dialect, streamUsage };
    const upstream = chatUpstream(chosen, own ? [...templateRules, ...knownOver(chosen)] : knownOver(chosen));
    return cloudAt(target.baseUrl)?.name === 'bedrock' ? atBedrock(upstream) : upstream;
  },
  headers: (call) => ({
    ...(isAzure(call.baseUrl) ? apiKeyHeader(call) : bearer(call)),
    ...(call.wire === 'responses' && featuresOf(call)),
  }),
});

/**
 * A Codex client's headers, which belong to Responses: only an upstream that speaks it gets them. Without the first, the vendor ignores a compaction request; without the second, the tools in a
 * request's items. Source: Codex 0.171, as recorded.
 */
const featureHeaders = ['x-codex-beta-features', 'x-openai-internal-codex-responses-lite'] as const;

const featuresOf = ({ clientHeader }: Call): Readonly<Record<string, string>> => {
  const features: Record<string, string> = {};
  for (const name of featureHeaders) {
    const value = clientHeader(name);
    if (value !== undefined) features[name] = value;
  }
  return features;
};
