import { statSync } from 'node:fs';
import { win32 } from 'node:path';
import type { Environment } from '../../config/env.ts';
import { CommandError } from '../cli.ts';

/** A program as `spawn` starts it. */
interface Startable {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: { readonly windowsHide: true; readonly windowsVerbatimArguments?: true };
}

/** The machine that a command is started on. */
interface Machine {
  readonly platform: NodeJS.Platform;
  readonly isFile: (path: string) => boolean;
}

const thisMachine: Machine = {
  platform: process.platform,
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
};

/**
 * How to start a command. On Windows, npm installs commands as batch files (`codex.cmd`), which Windows doesn't find without their
 * extension, and which Node.js refuses to start without a shell: `cmd.exe` starts them, with each argument quoted. Throws a
 * `CommandError` for an argument that `cmd.exe` can't pass on.
 */
export const startable = (
  command: string,
  args: readonly string[],
  env: Environment,
  { platform, isFile }: Machine = thisMachine,
): Startable => {
  const file = platform === 'win32' ? (findCommand(command, env, isFile) ?? command) : command;
  if (platform !== 'win32' || !/\.(?:cmd|bat)$/i.test(file)) return { file, args, options: { windowsHide: true } };
  if ([file, ...args].some((text) => /[\0\r\n]/.test(text))) {
    throw new CommandError(
      `Cannot run ${command}: ${file} is a batch file, and an argument has a line break, which Windows can't pass to one.`,
    );
  }
  const line = [caretQuoted(file), ...args.map((text) => caretQuoted(caretQuoted(argument(text))))].join(' ');
  return {
    file: variable(env, 'ComSpec') || 'cmd.exe',
    args: ['/d', '/s', '/c', `"${line}"`],
    options: { windowsHide: true, windowsVerbatimArguments: true },
  };
};

/** The file of a command: as named, or in a folder of PATH, with an extension of PATHEXT if it has none of them. */
const findCommand = (command: string, env: Environment, isFile: Machine['isFile']): string | undefined => {
  const extensions = (variable(env, 'PATHEXT') || '.COM;.EXE;.BAT;.CMD').split(';').filter((text) => text !== '');
  const hasExtension = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()));
  const names = hasExtension ? [command] : extensions.map((extension) => command + extension.toLowerCase());
  const isPath = /[/\\:]/.test(command);
  const folders = (variable(env, 'PATH') ?? '').split(';').map((folder) => folder.replaceAll('"', ''));
  const places = isPath
    ? names.map((name) => win32.normalize(name))
    : folders.filter((folder) => folder !== '').flatMap((folder) => names.map((name) => win32.join(folder, name)));
  return places.find(isFile);
};

/** Names of variables have no case on Windows; a copy of the environment doesn't know. */
const variable = (env: Environment, name: string): string | undefined =>
  env[name] ?? Object.entries(env).find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1];

/**
 * An argument in quotes, as a program takes its command line apart: backslashes count only before a quote. Source: Microsoft, "Parsing C
 * command-line arguments".
 */
const argument = (text: string): string => `"${text.split('"').map(withDoubledEnd).join('\\"')}"`;

const withDoubledEnd = (part: string): string => {
  let end = part.length;
  while (part[end - 1] === '\\') end -= 1;
  return part + part.slice(end);
};

/**
 * A caret before each letter that means something to `cmd.exe`, the quotes included, so that none of them opens a quotation. An
 * argument needs it twice: a batch file's `%*` is read once more. No variable has a caret in its name, so `%` expands nothing.
 */
const caretQuoted = (text: string): string => text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
