import { type ClientTool, keyAs, routedName } from './tool.ts';

/** Claude Code's setting for the window before which it compacts. */
const leastCompactWindow = 100_000;
const mostCompactWindow = 1_000_000;

/** The most that Claude Code asks for by itself. Many windows hold prompt and answer together, so half of one is the limit, too. */
const mostOutput = 128_000;

/** Each makes it call a cloud's service instead of the base URL. Source: the program's own list, version 2.1.332. */
const cloudSwitches = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_MANTLE',
  'CLAUDE_CODE_USE_ANTHROPIC_AWS',
  'CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD',
  'CLAUDE_CODE_USE_GATEWAY',
];

/** Claude Code. Source: its documentation, "LLM gateway configuration", "Environment variables", "Settings". */
export const claudeCode: ClientTool = {
  name: 'claude-code',
  title: 'Claude Code',
  protocol: 'messages',
  commands: ['claude'],
  appendsVersion: true,
  path: '/v1/messages?beta=true',
  headers: { 'anthropic-version': '2023-06-01' },
  variables: ({ baseUrl, apiKey, model, context, maxOutput }) => ({
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_AUTH_TOKEN: apiKey,
    // Empty, since a user's own key would be sent along with the token and prompt a question at start-up.
    ANTHROPIC_API_KEY: '',
    ...Object.fromEntries(cloudSwitches.map((name) => [name, ''])),
    ...(model !== routedName && { ANTHROPIC_MODEL: model }),
    // Reasoning models can take minutes until the first token.
    API_TIMEOUT_MS: '600000',
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
    // Headers that say what each request is, for rules and the background scenario.
    CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
    // Claude Code ignores the context windows in the model list. The first is for names that it doesn't know, for which it
    // assumes a million tokens; the second for those that it does.
    ...(context !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(context) }),
    ...(context !== undefined &&
      context >= leastCompactWindow &&
      context <= mostCompactWindow && { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(context) }),
    ...(maxOutput !== undefined && {
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(Math.min(maxOutput, mostOutput, Math.floor((context ?? Infinity) / 2))),
    }),
  }),
  preferred: ['CLAUDE_CODE_MAX_CONTEXT_TOKENS', 'CLAUDE_CODE_AUTO_COMPACT_WINDOW', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS'],
  notes: [
    'Claude Code asks for its own models; `/model` in it, or `ANTHROPIC_MODEL`, names one of the gateway’s instead.',
    'Claude Code lists only models with `claude` or `anthropic` in their names, so the gateway lists an alias (`anthropic-junctor-…`) for each model.',
    'Variables in a `settings.json` of Claude Code win over these; `junctor run claude` wins over both.',
    'Your own `ANTHROPIC_API_KEY` would be sent along with the token, and the switches for clouds lead elsewhere, so they are unset.',
  ],
};

/** Names that the app accepts, if the gateway offers none like them: the routing rules choose for each. */
const usualNames = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'];

/**
 * Claude Desktop with third-party inference. Source: its documentation, "Cowork on third-party platforms", "Configuration reference"; the
 * rules for addresses and names by its error messages, as users report them. Not tried.
 */
export const claudeDesktop: ClientTool = {
  name: 'claude-desktop',
  title: 'Claude Desktop',
  protocol: 'messages',
  commands: ['claude-desktop'],
  setUpByHand: true,
  appendsVersion: true,
  settings: (access) => {
    const own = access.models.map(({ name }) => name).filter((name) => name.startsWith('claude-'));
    return [
      {
        label:
          'Claude Desktop: Help > Troubleshooting > Enable Developer Mode, then Developer > Configure Third-Party Inference',
        text: JSON.stringify(
          {
            inferenceProvider: 'gateway',
            // HTTPS, or 127.0.0.1.
            inferenceGatewayBaseUrl: access.baseUrl,
            inferenceGatewayApiKey: keyAs(access, 'the value of $JUNCTOR_API_KEY'),
            inferenceGatewayAuthScheme: 'bearer',
            inferenceModels: own.length > 0 ? own : usualNames,
          },
          null,
          2,
        ),
      },
    ];
  },
  notes: [
    'Not tried with the program itself.',
    'The address must be HTTPS, or `http://127.0.0.1`.',
    'It takes only names like Claude’s. The rules choose for those that no provider has; `claude-junctor-<provider>-<model>` leads to one of your models.',
  ],
};
