import { type Client, type OfferedModel, routedName } from './client.ts';

/**
 * Antigravity CLI. Source: Google's documentation, "Connect to an enterprise gateway"; the path behind the base URL by the tests of others
 * with version 1.2.16. Not tried.
 */
export const antigravity: Client = {
  name: 'antigravity',
  about: 'Antigravity CLI',
  commands: ['agy'],
  variables: ({ baseUrl, apiKey, models }) => ({
    AGY_LLM_GATEWAY_URL: `${baseUrl}/v1`,
    AGY_LLM_GATEWAY_API_KEY: apiKey,
    AGY_LLM_GATEWAY_WIRE_PROTOCOL: 'openai',
    AGY_LLM_GATEWAY_MODELS: [...new Set([routedName, ...models.flatMap(bareName)])].join(','),
  }),
  preferred: ['AGY_LLM_GATEWAY_MODELS'],
};

/** Without the provider: the list's names have commas between them. */
const bareName = ({ name }: OfferedModel): readonly string[] => {
  const [, ...rest] = name.split(',');
  return rest.length === 1 ? rest : [];
};
