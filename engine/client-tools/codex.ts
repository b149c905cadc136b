import { type Access, type ClientTool, clientKeyVariable, routedName } from './tool.ts';

/** The table `model_providers.junctor` of Codex. Source: its documentation, "Configuration", `model_providers`. */
export const codexProvider = ({ baseUrl }: Access) =>
  ({
    name: 'Junctor',
    base_url: `${baseUrl}/v1`,
    env_key: clientKeyVariable,
    wire_api: 'responses',
    // On one machine, a connection saves nothing, and plain requests outlive a restart of the gateway.
    supports_websockets: false,
    // Reasoning models can be silent for minutes.
    stream_idle_timeout_ms: 600_000,
  }) as const;

/** The content for `config.toml`. `catalogue`: the path of a file with all models in Codex's form; absent: it knows no windows. */
export const codexSettings = (access: Access, catalogue?: string) => ({
  label: '~/.codex/config.toml',
  text: [
    ...(access.model === routedName ? [] : [`model = ${JSON.stringify(access.model)}`]),
    'model_provider = "junctor"',
    ...(catalogue === undefined ? [] : [`model_catalog_json = ${JSON.stringify(catalogue)}`]),
    ...(access.context === undefined ? [] : [`model_context_window = ${access.context}`]),
    '',
    '[model_providers.junctor]',
    ...Object.entries(codexProvider(access)).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
  ].join('\n'),
});

/** Codex. */
export const codex: ClientTool = {
  name: 'codex',
  title: 'Codex',
  protocol: 'responses',
  commands: ['codex'],
  variables: ({ apiKey }) => ({ [clientKeyVariable]: apiKey }),
  settings: (access) => [codexSettings(access)],
  notes: [
    'What is above `[model_providers.junctor]` must come before the first `[table]` in the file. Back the file up before you change it.',
    `Codex reads the key from \`${clientKeyVariable}\` and refuses to start while it is empty.`,
    '`junctor run codex` also tells Codex the window of each model.',
  ],
};
