/** The gateway's address and key, for a client program. */
export interface ServiceAccess {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  /** Never empty: clients refuse to start without a key, even if the gateway requires none. */
  readonly apiKey: string;
  /** Context window of the models behind the gateway, in tokens; absent: the client's own default. */
  readonly context?: number;
}

/** A client program, or a family of them, that can use the gateway. */
interface Client {
  /** Name for `switchyard env --for`. */
  readonly name: string;
  /** One-line description for users. */
  readonly about: string;
  /** Executable names of the program, without extension. */
  readonly commands: readonly string[];
  /** Environment variables that direct it to the gateway. */
  readonly variables: (connection: ServiceAccess) => Readonly<Record<string, string>>;
  /** Variables of which the user's own values win. */
  readonly preferred?: readonly string[];
  /** Configuration that it needs besides the variables. */
  readonly block?: (connection: ServiceAccess) => ConfigBlock;
  /** Arguments equivalent to `block`, inserted before the user's own by `switchyard run`. */
  readonly args?: (connection: ServiceAccess) => readonly string[];
}

/** A fragment of a client's configuration file. */
interface ConfigBlock {
  /** Path of the file, as shown to users. */
  readonly file: string;
  readonly text: string;
}

/** Programs built on Anthropic's SDKs, which append `/v1` themselves. Source: the SDKs' documentation. */
const anthropic: Client = {
  name: 'anthropic',
  about: "programs built on Anthropic's SDKs",
  commands: [],
  variables: ({ baseUrl, apiKey }) => ({ ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: apiKey }),
};

/** Programs built on OpenAI's SDKs, which append paths below `/v1`. Source: the SDKs' documentation. */
const openai: Client = {
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

/** Claude Code. Source: its documentation, "LLM gateway configuration" and "Environment variables". */
const claudeCode: Client = {
  name: 'claude-code',
  about: 'Claude Code',
  commands: ['claude'],
  variables: ({ baseUrl, apiKey, context }) => ({
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_AUTH_TOKEN: apiKey,
    // Empty, since a user's own key would be sent along with the token and prompt a question at start-up.
    ANTHROPIC_API_KEY: '',
    // Reasoning models can take minutes until the first token.
    API_TIMEOUT_MS: '600000',
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
    // Headers that say what each request is, for rules and the background scenario.
    CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
    // Claude Code ignores the context windows in the model list. The first is for names that it doesn't know, the second for
    // its own, which begin with `claude-`.
    ...(context !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(context) }),
    ...(context !== undefined &&
      context >= leastCompactWindow &&
      context <= mostCompactWindow && { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(context) }),
  }),
  preferred: ['CLAUDE_CODE_MAX_CONTEXT_TOKENS', 'CLAUDE_CODE_AUTO_COMPACT_WINDOW'],
};

/** What Claude Code takes as the window before which it compacts. */
const leastCompactWindow = 100_000;
const mostCompactWindow = 1_000_000;

/** Codex reads the key from this variable (`env_key`). */
const keyVariable = 'SWITCHYARD_CLIENT_KEY';

const provider = ({ baseUrl }: ServiceAccess) =>
  ({
    name: 'Switchyard',
    base_url: `${baseUrl}/v1`,
    env_key: keyVariable,
    wire_api: 'responses',
    // The gateway speaks only HTTP; a WebSocket attempt costs retries at each start.
    supports_websockets: false,
  }) as const;

/** Codex. Source: its documentation, "Configuration", `model_providers`; `-c` accepts the same keys with TOML values. */
const codex: Client = {
  name: 'codex',
  about: 'Codex',
  commands: ['codex'],
  variables: ({ apiKey }) => ({ [keyVariable]: apiKey }),
  block: (connection) => ({
    file: '~/.codex/config.toml',
    text: [
      'model_provider = "switchyard"',
      ...(connection.context === undefined ? [] : [`model_context_window = ${connection.context}`]),
      '',
      '[model_providers.switchyard]',
      ...Object.entries(provider(connection)).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    ].join('\n'),
  }),
  args: (connection) => [
    '-c',
    'model_provider="switchyard"',
    ...(connection.context === undefined ? [] : ['-c', `model_context_window=${connection.context}`]),
    ...Object.entries(provider(connection)).flatMap(([name, value]) => [
      '-c',
      `model_providers.switchyard.${name}=${JSON.stringify(value)}`,
    ]),
  ],
};

/** All known clients. */
export const clients: readonly Client[] = [claudeCode, codex, openai, anthropic];

/** Clients whose variables are set for an unknown program; variables it doesn't read are harmless. */
export const plainClients: readonly Client[] = [openai, anthropic];

/** Output syntaxes that `switchyard env --shell` accepts. */
export const shells = ['posix', 'fish', 'powershell', 'json'] as const;
