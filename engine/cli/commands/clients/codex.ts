import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startable } from '../../machine/windows-command.ts';
import type { Client, Files, ServiceAccess } from './client.ts';
import { codexCatalogue } from './codex-catalogue.ts';

/** Codex reads the key from this variable (`env_key`). */
const keyVariable = 'JUNCTOR_CLIENT_KEY';

const provider = ({ baseUrl }: ServiceAccess) =>
  ({
    name: 'Junctor',
    base_url: `${baseUrl}/v1`,
    env_key: keyVariable,
    wire_api: 'responses',
    // On one machine, a connection saves nothing, and plain requests outlive a restart of the gateway.
    supports_websockets: false,
  }) as const;

/** Writes the models in Codex's form, so that it knows their windows; returns the file's path. */
const writeCatalogue = async (access: ServiceAccess, { command, env, writeFile }: Files): Promise<string> =>
  writeFile('codex-models.json', codexCatalogue(access, await ownModels(command, env)));

/** How long Codex has to print its models, in milliseconds; it takes about 25. */
const askMs = 5_000;

/** What Codex knows of models; `undefined` if it isn't installed, or too old for the question. */
const ownModels = (command: string, env: Files['env']): Promise<string | undefined> => {
  const { file, args, options } = startable(command, ['debug', 'models', '--bundled'], env);
  return promisify(execFile)(file, args, { ...options, env, timeout: askMs, maxBuffer: 32 << 20 }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
};

/** Codex. Source: its documentation, "Configuration", `model_providers`; `-c` accepts the same keys with TOML values. */
export const codex: Client = {
  name: 'codex',
  about: 'Codex',
  commands: ['codex'],
  variables: ({ apiKey }) => ({ [keyVariable]: apiKey }),
  block: async (access, files) => ({
    file: '~/.codex/config.toml',
    text: [
      'model_provider = "junctor"',
      `model_catalog_json = ${JSON.stringify(await writeCatalogue(access, files))}`,
      ...(access.context === undefined ? [] : [`model_context_window = ${access.context}`]),
      '',
      '[model_providers.junctor]',
      ...Object.entries(provider(access)).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    ].join('\n'),
  }),
  // Arguments win over config.toml, its profiles and a project's file.
  launch: async (run) => [
    ...[
      ['model_provider', 'junctor'] as const,
      ['model_catalog_json', await writeCatalogue(run.access, run)] as const,
      ...Object.entries(provider(run.access)).map(
        ([name, value]) => [`model_providers.junctor.${name}`, value] as const,
      ),
    ].flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`]),
    ...run.args,
  ],
};
