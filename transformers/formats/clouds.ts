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

/** Segments of base URLs below which a cloud speaks a form that isn't its own, and names the model in the body. */
const otherForms = ['openai', 'openapi', 'anthropic'];

/** Whether the base URL is above the cloud's own paths. */
export const isAboveModels = ({ pathname }: Pick<URL, 'pathname'>): boolean =>
  !pathname.split('/').some((segment) => otherForms.includes(segment));

/** Whether a name is that of a model of Anthropic's, with or without a cloud's prefixes. */
export const isClaude = (model: string): boolean => /(?:^|[./])claude-|(?:^|\.)anthropic\./.test(model);

/** A base URL and its format's options, which may not fit the schema. */
type Place = Pick<Call, 'baseUrl' | 'options'>;

/** The cloud of a base URL, by the option or its host. */
export const cloudOf = ({ baseUrl, options }: Place): CloudName | undefined =>
  options.cloud === 'vertex' || options.cloud === 'bedrock' ? options.cloud : cloudAt(baseUrl)?.name;

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
