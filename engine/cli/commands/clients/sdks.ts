import type { Client } from './client.ts';

/** Programs built on Anthropic's SDKs, which append `/v1` themselves. Source: the SDKs' documentation. */
export const anthropic: Client = {
  name: 'anthropic',
  about: "programs built on Anthropic's SDKs",
  commands: [],
  variables: ({ baseUrl, apiKey }) => ({ ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: apiKey }),
};

/** Programs built on OpenAI's SDKs, which append paths below `/v1`. Source: the SDKs' documentation. */
export const openai: Client = {
  name: 'openai',
  about: "programs built on OpenAI's SDKs",
  commands: [],
  variables: ({ baseUrl, apiKey }) => ({
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    // Legacy name; some programs still read it.
    OPENAI_API_BASE: `${baseUrl}/v1`,
    OPENAI_API_KEY: apiKey,
  }),
};
