import type { Client } from './client.ts';

/** Programs built on Anthropic's SDKs, which append `/v1` themselves. Source: the SDKs' documentation. */
export const anthropic: Client = {
  name: 'anthropic',
  about: "programs built on Anthropic's SDKs",
  commands: [],
  variables: ({ baseUrl, apiKey }) => ({ ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: apiKey }),
};
