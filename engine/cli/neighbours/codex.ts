import type { Client, Connection } from './client.ts';

/** The variable that Codex is told to take its key from. */
const keyVariable = 'SWITCHYARD_CLIENT_KEY';

const provider = ({ baseUrl }: Connection) =>
  ({ name: 'Switchyard', base_url: `${baseUrl}/v1`, env_key: keyVariable, wire_api: 'responses' }) as const;

/** Codex. Source: its documentation, "Configuration", `model_providers`; `-c` takes the same keys, values as in TOML. */
export const codex: Client = {
  name: 'codex',
  about: 'Codex',
  commands: ['codex'],
  variables: ({ apiKey }) => ({ [keyVariable]: apiKey }),
  block: (connection) => ({
    file: '~/.codex/config.toml',
    text: [
      'model_provider = "switchyard"',
      '',
      '[model_providers.switchyard]',
      ...Object.entries(provider(connection)).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    ].join('\n'),
  }),
  args: (connection) => [
    '-c',
    'model_provider="switchyard"',
    ...Object.entries(provider(connection)).flatMap(([name, value]) => [
      '-c',
      `model_providers.switchyard.${name}=${JSON.stringify(value)}`,
    ]),
  ],
};
