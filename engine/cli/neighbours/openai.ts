import type { Client } from './client.ts';

/** Programs built on OpenAI's SDKs, which append paths below `/v1`. Source: the SDKs' documentation. */
export const openai: Client = {
  name: 'openai',
  about: "programs built on OpenAI's SDKs",
  commands: [],
  variables: ({ baseUrl, apiKey }) => ({
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    // The older name, which some programs still read.
    OPENAI_API_BASE: `${baseUrl}/v1`,
    OPENAI_API_KEY: apiKey,
  }),
};
