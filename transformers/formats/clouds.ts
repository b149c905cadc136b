import Type from 'typebox';
import { type CloudName, cloudAt } from '../../engine/model/clouds.ts';
import type { Call } from '../../engine/model/transformer.ts';

/** The option that names the cloud behind a host of one's own. */
export const cloudOption = Type.Optional(
  Type.Enum(['vertex', 'bedrock'], {
    description:
      "The cloud whose paths are called, `vertex` or `bedrock`, where the base URL's host doesn't show it, as that of a proxy doesn't.",
  }),
);

/** The option that names the region behind a host of one's own. */
export const regionOption = Type.Optional(
  Type.String({
    description: "The region that requests are signed for, where the base URL's host doesn't show it.",
    default: 'us-east-1',
  }),
);

/** Segments of base URLs below which a cloud speaks a form that isn't its own, and names the model in the body. */
const otherForms = ['openai', 'openapi', 'anthropic'];

/** Whether the base URL is above the cloud's own paths, which one of the hosts lacks. */
export const isAboveModels = ({ hostname, pathname }: Pick<URL, 'hostname' | 'pathname'>): boolean =>
  !hostname.startsWith('bedrock-mantle.') && !pathname.split('/').some((segment) => otherForms.includes(segment));

/** Whether a name is that of a model of Anthropic's, with or without a cloud's prefixes. */
export const isClaude = (model: string): boolean => /(?:^|[./])claude-|(?:^|\.)anthropic\./.test(model);

/** A base URL and its format's options, which may not fit the schema. */
type Place = Pick<Call, 'baseUrl' | 'options'>;

/** The cloud of a base URL, by the option or its host. */
export const cloudOf = ({ baseUrl, options }: Place): CloudName | undefined => {
  if (options.cloud === 'vertex' || options.cloud === 'bedrock') return options.cloud;
  if (!byHost.has(baseUrl)) byHost.set(baseUrl, cloudAt(baseUrl)?.name);
  return byHost.get(baseUrl);
};

/** Each call asks for the cloud of its target's base URL. */
const byHost = new WeakMap<URL, CloudName | undefined>();

/** The cloud whose own paths are called, which name the model; `undefined`: the paths are the format's. */
export const pathsOf = (place: Place): CloudName | undefined =>
  isAboveModels(place.baseUrl) ? cloudOf(place) : undefined;

/**
 * A Google key: one of the cloud's API keys has a header of its own, all else is a token of a login. Source: Google Cloud documentation,
 * "Get a Google Cloud API key"; AIP-4110.
 */
export const googleCredentials = ({ apiKey, baseUrl }: Call): Readonly<Record<string, string>> => {
  if (apiKey === '') return {};
  // Only paths without a project take no tokens.
  const isKey = /^(?:AIza|AQ\.)/.test(apiKey) || !baseUrl.pathname.includes('/projects/');
  return isKey ? { 'x-goog-api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
};
