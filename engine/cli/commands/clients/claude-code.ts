import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Variables } from '../../../client-tools/tool.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../model/json/json.ts';
import { CommandError } from '../../cli.ts';
import type { Launcher, Place } from './launcher.ts';

/** Claude Code. Source: its documentation, "Settings". */
export const claudeLauncher: Launcher = {
  // The `env` of a settings file wins over the environment, and that of this argument over both. A file, since other users of
  // the machine can read arguments, and the key is among the variables.
  async launch({ args, variables, writeFile }) {
    const { given, others } = await takeSettings(args);
    const env = isJsonObject(given.env) ? given.env : {};
    const settings = { ...given, apiKeyHelper: '', env: { ...env, ...variables } };
    return ['--settings', await writeFile('claude-code-settings.json', JSON.stringify(settings)), ...others];
  },
  async overruling(place) {
    const read = settingsFiles(place).map(async ({ file, always }) => ({
      file,
      always,
      variables: variablesIn(await readJson(file)),
    }));
    return (await Promise.all(read)).filter(({ variables }) => Object.keys(variables).length > 0);
  },
};

/** Takes the user's own `--settings` out of the arguments, since the program uses only the last one. */
const takeSettings = async (
  args: readonly string[],
): Promise<{ readonly given: JsonObject; readonly others: readonly string[] }> => {
  const others: string[] = [];
  let given: JsonObject = {};
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--') return { given, others: [...others, ...args.slice(index)] };
    if (arg === '--settings') {
      index += 1;
      given = await readSettings(args[index] ?? '');
    } else if (arg.startsWith(joined)) given = await readSettings(arg.slice(joined.length));
    else others.push(arg);
  }
  return { given, others };
};

const joined = '--settings=';

/** The value of `--settings`: JSON, or the path of a file. */
const readSettings = async (value: string): Promise<JsonObject> => {
  const settings = value.trimStart().startsWith('{') ? parseJson(value) : await readJson(value);
  if (isJsonObject(settings)) return settings;
  throw new CommandError('The argument --settings is neither a JSON object nor a file with one.');
};

const readJson = async (file: string): Promise<Json | undefined> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : parseJson(text);
};

/** The settings files, without the one for `--settings`. Source: its documentation, "Settings", "Settings precedence". */
const settingsFiles = ({
  env,
  cwd,
  root = '/',
}: Place): readonly { readonly file: string; readonly always: boolean }[] => {
  const user = env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude');
  const project = resolve(cwd, '.claude');
  return [
    { file: join(user, 'settings.json'), always: false },
    { file: join(project, 'settings.json'), always: false },
    { file: join(project, 'settings.local.json'), always: false },
    ...managedFolders.map((folder) => ({ file: join(root, folder, 'managed-settings.json'), always: true })),
  ];
};

/** Administrators' files of settings that override everything: on Linux and on macOS. */
const managedFolders = ['etc/claude-code', 'Library/Application Support/ClaudeCode'];

const variablesIn = (settings: Json | undefined): Variables =>
  isJsonObject(settings) && isJsonObject(settings.env)
    ? Object.fromEntries(
        Object.entries(settings.env).flatMap(([name, value]) =>
          typeof value === 'object' ? [] : [[name, String(value)] as const],
        ),
      )
    : {};
