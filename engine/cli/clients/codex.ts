import type { Client, ServiceAccess } from './client.ts';

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
export const codex: Client = {
  name: 'codex',
  about: 'Codex',
  commands: ['codex'],
  variables: ({ apiKey }) => ({ [keyVariable]: apiKey }),
  block: (access) => ({
    file: '~/.codex/config.toml',
    text: [
      'model_provider = "switchyard"',
      ...(access.context === undefined ? [] : [`model_context_window = ${access.context}`]),
      '',
      '[model_providers.switchyard]',
      ...Object.entries(provider(access)).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    ].join('\n'),
  }),
  // Arguments win over config.toml, its profiles and a project's file.
  launch: ({ access, args }) => [
    '-c',
    'model_provider="switchyard"',
    ...(access.context === undefined ? [] : ['-c', `model_context_window=${access.context}`]),
    ...Object.entries(provider(access)).flatMap(([name, value]) => [
      '-c',
      `model_providers.switchyard.${name}=${JSON.stringify(value)}`,
    ]),
    ...args,
  ],
};
