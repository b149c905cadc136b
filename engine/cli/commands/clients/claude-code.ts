import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../model/json/json.ts';
import { CommandError } from '../../cli.ts';
import type { Client, Place, Variables } from './client.ts';

/** What Claude Code takes as the window before which it compacts. */
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
export const claudeCode: Client = {
  name: 'claude-code',
  about: 'Claude Code',
  commands: ['claude'],
  variables: ({ baseUrl, apiKey, context, maxOutput }) => ({
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_AUTH_TOKEN: apiKey,
    // Empty, since a user's own key would be sent along with the token and prompt a question at start-up.
    ANTHROPIC_API_KEY: '',
    ...Object.fromEntries(cloudSwitches.map((name) => [name, ''])),
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

/** Where administrators put settings that win over everything: on Linux and on macOS. */
const managedFolders = ['etc/claude-code', 'Library/Application Support/ClaudeCode'];

const variablesIn = (settings: Json | undefined): Variables =>
  isJsonObject(settings) && isJsonObject(settings.env)
    ? Object.fromEntries(
        Object.entries(settings.env).flatMap(([name, value]) =>
          typeof value === 'object' ? [] : [[name, String(value)] as const],
        ),
      )
    : {};
