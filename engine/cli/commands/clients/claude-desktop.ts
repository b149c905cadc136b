import type { Client } from './client.ts';

/** Names that the app accepts, if the gateway offers none like them: the routing rules choose for each. */
const usualNames = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'];

/**
 * Claude Desktop with third-party inference. Source: its documentation, "Cowork on third-party platforms", "Configuration reference"; the
 * rules for addresses and names by its error messages, as users report them. Not tried.
 */
export const claudeDesktop: Client = {
  name: 'claude-desktop',
  about: 'Claude Desktop',
  commands: ['claude-desktop'],
  setUpByHand: true,
  variables: () => ({}),
  block: ({ baseUrl, apiKey, models }) => {
    const own = models.map(({ name }) => name).filter((name) => name.startsWith('claude-'));
    return {
      file: 'Claude Desktop: Help > Troubleshooting > Enable Developer Mode, then Developer > Configure Third-Party Inference',
      text: JSON.stringify(
        {
          inferenceProvider: 'gateway',
          // HTTPS, or 127.0.0.1.
          inferenceGatewayBaseUrl: baseUrl,
          inferenceGatewayApiKey: apiKey,
          inferenceGatewayAuthScheme: 'bearer',
          inferenceModels: own.length > 0 ? own : usualNames,
        },
        null,
        2,
      ),
    };
  },
};
