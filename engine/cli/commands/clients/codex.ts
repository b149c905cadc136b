import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { codexProvider, codexSettings } from '../../../client-tools/codex.ts';
import type { Access } from '../../../client-tools/tool.ts';
import { startable } from '../../system/windows-command.ts';
import { codexCatalogue } from './codex-catalogue.ts';
import type { Files, Launcher } from './launcher.ts';

/** Writes the models in Codex's form, so that it knows their windows; returns the file's path. */
const writeCatalogue = async (access: Access, { command, env, writeFile }: Files): Promise<string> =>
  writeFile('codex-models.json', codexCatalogue(access, await ownModels(command, env)));

/** Time limit for Codex to print its models, in milliseconds; it takes about 25. */
const askMs = 5_000;

/** Codex's facts of models; `undefined` if it isn't installed, or too old for the question. */
const ownModels = (command: string, env: Files['env']): Promise<string | undefined> => {
  const { file, args, options } = startable(command, ['debug', 'models', '--bundled'], env);
  return promisify(execFile)(file, args, { ...options, env, timeout: askMs, maxBuffer: 32 << 20 }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
};

/** Codex. Source: its documentation, "Configuration"; `-c` accepts the keys of `config.toml` with TOML values. */
export const codexLauncher: Launcher = {
  settings: async (access, files) => [codexSettings(access, await writeCatalogue(access, files))],
  // Arguments win over config.toml, its profiles and a project's file.
  launch: async (run) => [
    ...[
      ['model_provider', 'junctor'] as const,
      ['model_catalog_json', await writeCatalogue(run.access, run)] as const,
      ...Object.entries(codexProvider(run.access)).map(
        ([name, value]) => [`model_providers.junctor.${name}`, value] as const,
      ),
    ].flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`]),
    ...run.args,
  ],
};
