import type { Client } from './client.ts';

/** Claude Code. Source: its documentation, "LLM gateway configuration" and "Environment variables". */
export const claudeCode: Client = {
  name: 'claude-code',
  about: 'Claude Code',
  commands: ['claude'],
  variables: ({ baseUrl, apiKey }) => ({
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_AUTH_TOKEN: apiKey,
    // A key of the user's own would be sent beside the token, and asked about at the start.
    ANTHROPIC_API_KEY: '',
    // Models behind a gateway may think for long before their first word.
    API_TIMEOUT_MS: '600000',
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
  }),
};
