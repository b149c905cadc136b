import { format, noOptions } from '../../engine/model/transformer.ts';
import { bindingBetaOf, messagesModelList, messagesUpstreamOf } from '../../protocols/messages/index.ts';
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

/** Anthropic: the Messages protocol unchanged. */
export const anthropic = format({
  name: 'anthropic',
  about: "Speaks Anthropic's Messages protocol.",
  hosts,
  firstStart: {
    title: 'Anthropic',
    variable: 'ANTHROPIC_API_KEY',
    baseUrl: 'https://api.anthropic.com',
    models: ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'],
  },
  options: noOptions,
  pathEnds: ['/anthropic', '/anthropic/v1', '/messages'],
  path: '/v1/messages',
  models: messagesModelList,
  facts: anthropicFacts,
  protocol: ({ baseUrl, maxOutput }) => messagesUpstreamOf({ server: serverAt(baseUrl), maxOutput }),
  headers({ apiKey, baseUrl, clientHeader, request, passesThrough }) {
    const { temperature, topP, topK } = request;
    const samples = temperature !== undefined || topP !== undefined || topK !== undefined;
    const version = samples ? undefined : clientHeader('anthropic-version');
    const own = passesThrough ? undefined : bindingBetaOf(request);
    const beta = withBeta(clientHeader('anthropic-beta'), own);
    return {
      ...(wantsBearer(baseUrl) ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey }),
      'anthropic-version': version ?? versionWithSampling,
      ...(beta !== undefined && { 'anthropic-beta': beta }),
    };
  },
});
