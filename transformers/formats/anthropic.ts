import Type from 'typebox';
import { cloudAt } from '../../engine/model/clouds.ts';
import { bearer, type Call, format } from '../../engine/model/transformer.ts';
import { bindingBetaOf, messagesModelList, messagesUpstreamOf } from '../../protocols/messages/index.ts';
import { atBedrock } from './bedrock.ts';
import { cloudOf, cloudOption, googleCredentials, isAboveModels, isClaude, pathsOf, regionOption } from './clouds.ts';
import { anthropicFacts } from './facts/anthropic.ts';

/** The API version that accepts sampling fields. Source: Anthropic API reference, "Versions". */
const versionWithSampling = '2023-06-01';

const hosts = ['api.anthropic.com'];

/** Anthropic's own rules hold at its hosts; elsewhere only for its models, by their names. */
const serverAt = ({ hostname }: URL) => (hosts.includes(hostname) ? 'vendor' : 'any');

/** Hosts of this format that read the key as a bearer token only. Source: their API references, as of November 2026. */
const bearerHosts = ['ollama.com', 'openrouter.ai', 'githubcopilot.com'];

const wantsBearer = ({ hostname }: URL): boolean =>
  bearerHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));

const credentialsOf = (call: Call): Readonly<Record<string, string>> => {
  const { apiKey, baseUrl } = call;
  if (cloudOf(call) === 'bedrock') return bearer(call);
  return wantsBearer(baseUrl) ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey };
};

const json = 'application/json';
const eventStream = 'application/vnd.amazon.eventstream';

/** The client's betas, with one more. */
const withBeta = (betas: string | undefined, own: string | undefined): string | undefined =>
  own === undefined || betas?.includes(own) ? betas : betas ? `${betas},${own}` : own;

/** The client's betas, and our own that the request needs. */
const betasOf = ({ clientHeader, request, isRelayed }: Call): string | undefined =>
  withBeta(clientHeader('anthropic-beta'), isRelayed ? undefined : bindingBetaOf(request));

/**
 * Anthropic: the Messages protocol unchanged. A cloud has the model in the path, and the version in the body; Amazon Bedrock also the
 * betas, and it takes no `stream`. Sources: Anthropic documentation, "Claude on Vertex AI", "Claude on Amazon Bedrock"; npm
 * @anthropic-ai/vertex-sdk 1.1, @anthropic-ai/bedrock-sdk 1.1.
 */
export const anthropic = format({
  name: 'anthropic',
  about: "Speaks Anthropic's Messages protocol.",
  hosts,
  serves: (baseUrl, model) => cloudAt(baseUrl) !== undefined && isAboveModels(baseUrl) && isClaude(model),
  firstStart: {
    title: 'Anthropic',
    variable: 'ANTHROPIC_API_KEY',
    baseUrl: 'https://api.anthropic.com',
    models: ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'],
  },
  options: Type.Object({ cloud: cloudOption, region: regionOption }, { additionalProperties: false }),
  pathEnds: ['/anthropic', '/anthropic/v1', '/messages'],
  path: '/v1/messages',
  models: messagesModelList,
  facts: anthropicFacts,
  lists: (place) => pathsOf(place) === undefined,
  pathFor(target, { stream }) {
    switch (pathsOf(target)) {
      case 'vertex':
        return `/v1/publishers/anthropic/models/{model}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
      case 'bedrock':
        return `/model/{modelId}/${stream ? 'invoke-with-response-stream' : 'invoke'}`;
      case undefined:
        return '/v1/messages';
    }
  },
  protocol({ baseUrl, options, maxOutput }) {
    const cloud = cloudOf({ baseUrl, options });
    const upstream = messagesUpstreamOf({ server: cloud ? 'cloud' : serverAt(baseUrl), maxOutput });
    return cloud === 'bedrock' ? atBedrock(upstream) : upstream;
  },
  bodyPatch(call) {
    switch (pathsOf(call)) {
      case 'vertex':
        return { model: null, anthropic_version: 'vertex-2023-10-16' };
      case 'bedrock': {
        const betas = betasOf(call)
          ?.split(',')
          .map((beta) => beta.trim());
        return {
          model: null,
          stream: null,
          anthropic_version: 'bedrock-2023-05-31',
          ...(betas && { anthropic_beta: betas }),
        };
      }
      case undefined:
        return undefined;
    }
  },
  counting(place) {
    switch (pathsOf(place)) {
      case 'vertex':
        return { path: '/v1/publishers/anthropic/models/count-tokens:rawPredict' };
      case 'bedrock':
        return 'none';
      case undefined:
        return undefined;
    }
  },
  headers(call) {
    const { clientHeader, request } = call;
    const beta = betasOf(call);
    const betas = beta === undefined ? {} : { 'anthropic-beta': beta };
    const paths = pathsOf(call);
    if (paths === 'vertex') return { ...googleCredentials(call), ...betas };
    if (paths === 'bedrock') return { ...bearer(call), accept: request.stream ? eventStream : json };
    const { temperature, topP, topK } = request;
    const samples = temperature !== undefined || topP !== undefined || topK !== undefined;
    const version = samples ? undefined : clientHeader('anthropic-version');
    return {
      ...credentialsOf(call),
      'anthropic-version': version ?? versionWithSampling,
      ...betas,
    };
  },
});
