import Type from 'typebox';
import { cloudAt } from '../../engine/model/clouds.ts';
import { type Call, format } from '../../engine/model/transformer.ts';
import { bindingBetaOf, messagesModelList, messagesUpstreamOf } from '../../protocols/messages/index.ts';
import { cloudOf, cloudOption, googleCredentials, isAboveModels, isClaude, pathsOf } from './clouds.ts';
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

/** The client's betas, with one more. */
const withBeta = (betas: string | undefined, own: string | undefined): string | undefined =>
  own === undefined || betas?.includes(own) ? betas : betas ? `${betas},${own}` : own;

/** The client's betas, and our own that the request needs. */
const betasOf = ({ clientHeader, request, passesThrough }: Call): string | undefined =>
  withBeta(clientHeader('anthropic-beta'), passesThrough ? undefined : bindingBetaOf(request));

/**
 * Anthropic: the Messages protocol unchanged. A cloud has the model in the path, and the version in the body. Sources: Anthropic
 * documentation, "Claude on Vertex AI"; npm @anthropic-ai/vertex-sdk 1.1.
 */
export const anthropic = format({
  name: 'anthropic',
  about: "Speaks Anthropic's Messages protocol.",
  hosts,
  serves: (baseUrl, model) => cloudAt(baseUrl)?.name === 'vertex' && isAboveModels(baseUrl) && isClaude(model),
  firstStart: {
    title: 'Anthropic',
    variable: 'ANTHROPIC_API_KEY',
    baseUrl: 'https://api.anthropic.com',
    models: ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'],
  },
  options: Type.Object({ cloud: cloudOption }, { additionalProperties: false }),
  pathEnds: ['/anthropic', '/anthropic/v1', '/messages'],
  path: '/v1/messages',
  models: messagesModelList,
  facts: anthropicFacts,
  lists: (place) => pathsOf(place) === undefined,
  pathFor: (target, { stream }) =>
    pathsOf(target) === 'vertex'
      ? `/v1/publishers/anthropic/models/{model}:${stream ? 'streamRawPredict' : 'rawPredict'}`
      : '/v1/messages',
  protocol: ({ baseUrl, options, maxOutput }) =>
    messagesUpstreamOf({ server: cloudOf({ baseUrl, options }) ? 'cloud' : serverAt(baseUrl), maxOutput }),
  bodyPatch: (call) =>
    pathsOf(call) === 'vertex' ? { model: null, anthropic_version: 'vertex-2023-10-16' } : undefined,
  counting: (place) =>
    pathsOf(place) === 'vertex' ? { path: '/v1/publishers/anthropic/models/count-tokens:rawPredict' } : undefined,
  headers(call) {
    const { apiKey, baseUrl, clientHeader, request } = call;
    const beta = betasOf(call);
    const betas = beta === undefined ? {} : { 'anthropic-beta': beta };
    if (pathsOf(call) === 'vertex') return { ...googleCredentials(call), ...betas };
    const { temperature, topP, topK } = request;
    const samples = temperature !== undefined || topP !== undefined || topK !== undefined;
    const version = samples ? undefined : clientHeader('anthropic-version');
    return {
      ...(wantsBearer(baseUrl) ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey }),
      'anthropic-version': version ?? versionWithSampling,
      ...betas,
    };
  },
});
