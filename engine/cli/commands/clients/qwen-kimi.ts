import { type Client, routedName } from './client.ts';

/** Qwen Code. Source: its documentation, "Authentication"; tried with version 0.24.4. */
export const qwen: Client = {
  name: 'qwen',
  about: 'Qwen Code',
  commands: ['qwen'],
  variables: ({ baseUrl, apiKey }) => ({
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    OPENAI_API_KEY: apiKey,
    OPENAI_MODEL: routedName,
  }),
  preferred: ['OPENAI_MODEL'],
  // A way to log in that is chosen in its settings would win over the variables.
  launch: ({ args }) => (args.some((arg) => arg.startsWith('--auth-type')) ? args : ['--auth-type', 'openai', ...args]),
};

/**
 * Kimi Code. Source: its documentation, "Environment variables", "Define a model from environment variables": with a name there, it
 * makes a provider of its own, and reads no key from elsewhere. Not tried.
 */
export const kimi: Client = {
  name: 'kimi',
  about: 'Kimi Code',
  commands: ['kimi'],
  variables: ({ baseUrl, apiKey, context }) => ({
    KIMI_MODEL_PROVIDER_TYPE: 'openai',
    KIMI_MODEL_BASE_URL: `${baseUrl}/v1`,
    KIMI_MODEL_API_KEY: apiKey,
    KIMI_MODEL_NAME: routedName,
    ...(context !== undefined && { KIMI_MODEL_MAX_CONTEXT_SIZE: String(context) }),
  }),
  preferred: ['KIMI_MODEL_NAME', 'KIMI_MODEL_MAX_CONTEXT_SIZE'],
};
