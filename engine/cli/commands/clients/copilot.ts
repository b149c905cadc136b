import { type Client, routedName } from './client.ts';

/** GitHub Copilot CLI. Source: its documentation, "Using your own model provider"; tried with version 1.0.102. */
export const copilot: Client = {
  name: 'copilot',
  about: 'GitHub Copilot CLI',
  commands: ['copilot'],
  variables: ({ baseUrl, apiKey, context, maxOutput }) => ({
    COPILOT_PROVIDER_BASE_URL: `${baseUrl}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_WIRE_API: 'completions',
    COPILOT_PROVIDER_API_KEY: apiKey,
    COPILOT_MODEL: routedName,
    ...(context !== undefined && { COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(context) }),
    ...(maxOutput !== undefined && { COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(maxOutput) }),
    // What was set for another provider.
    COPILOT_PROVIDER_BEARER_TOKEN: '',
    COPILOT_PROVIDER_API_KEY_COMMAND: '',
    COPILOT_PROVIDER_HEADERS: '',
    COPILOT_PROVIDER_TRANSPORT: '',
    COPILOT_PROVIDER_MODEL_ID: '',
    COPILOT_PROVIDER_WIRE_MODEL: '',
  }),
  preferred: ['COPILOT_MODEL', 'COPILOT_PROVIDER_MAX_PROMPT_TOKENS', 'COPILOT_PROVIDER_MAX_OUTPUT_TOKENS'],
};
