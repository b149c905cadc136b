import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { accessTo } from '../../client-tools/access.ts';
import { shellLines, withoutProxy } from '../../client-tools/shell.ts';
import { type Access, anyKey, type ClientTool, routedName, type Variables } from '../../client-tools/tool.ts';
import { plainTools } from '../../client-tools/tools.ts';
import type { Environment } from '../../config/env.ts';
import { writeAtomically } from '../../config/write-atomically.ts';
import { errorCode } from '../../model/fault.ts';
import { type Cli, CommandError } from '../cli.ts';
import { offlineModelFacts } from '../offline-config.ts';
import { locateService, reachService, type ServiceLocation } from '../reach-service.ts';
import { openRunFiles } from '../system/run-files.ts';
import { startable } from '../system/windows-command.ts';
import { clients, syntaxes } from './clients/clients.ts';
import { launchers } from './clients/launchers.ts';

/**
 * `junctor run <command …>`: runs a program with the service's address and key in its environment. Returns its exit code;
 * for a program ended by a signal, 128 plus the signal's number, as shells do.
 */
export const runClient = async (cli: Cli, [command = '', ...args]: readonly string[]): Promise<number> => {
  const located = await reachService(cli);
  const access = await accessOf(cli, located);
  const name = basename(command).replace(/\.(?:exe|cmd|bat|ps1)$/i, '');
  const known = clients.find(({ commands }) => commands.includes(name));
  if (known?.setUpByHand) {
    const how = `\`junctor env --for ${known.name}\` prints what belongs there`;
    throw new CommandError(`${known.title} can be directed to the gateway by its own settings only: ${how}.`);
  }
  const matching = known ? [known] : plainTools;
  const preferred = new Set(matching.flatMap((row) => row.preferred ?? []));
  const set = Object.fromEntries([
    ...matching
      .flatMap(({ variables }) => Object.entries(variables?.(access) ?? {}))
      .filter(([variable]) => !preferred.has(variable) || cli.env[variable] === undefined),
    ...Object.entries(proxyExceptions(cli, access)),
  ]);
  await refuseOverruled(cli, known, set);
  const files = openRunFiles(cli.home);
  try {
    const { env } = cli;
    const launched = await launchers[known?.name ?? '']?.launch?.({
      access,
      variables: set,
      args,
      command,
      env,
      writeFile: files.write,
    });
    return await waitFor(command, launched ?? args, { ...cli.env, ...set });
  } finally {
    files.remove();
  }
};

const waitFor = (command: string, args: readonly string[], variables: Environment): Promise<number> => {
  const env = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const started = startable(command, args, env);
  const child = spawn(started.file, started.args, { ...started.options, stdio: 'inherit', env });
  // The terminal signals the whole process group, so the program receives these itself.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) process.on(signal, () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'command not found' : error.message;
      reject(new CommandError(`Cannot run ${command}: ${why}.`));
    });
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
};

/** `junctor env --for …`: prints the variables, or the configuration fragment, for a client program. */
export const printEnv = async (
  cli: Cli,
  { for: name, shell = 'posix', context }: { readonly for: string; readonly shell?: string; readonly context?: string },
): Promise<void> => {
  const client = clients.find((row) => row.name === name);
  if (!client) throw new CommandError(`--for must be one of ${clients.map((row) => row.name).join(', ')}.`);
  const syntax = syntaxes.find((one) => one === shell);
  if (!syntax) throw new CommandError(`--shell must be one of ${syntaxes.join(', ')}.`);
  const located = await locateService(cli);
  if (located.found.type !== 'running') cli.warn('Junctor is not running; these values apply once it is.');
  const access = {
    ...(await accessOf(cli, located)),
    ...(context !== undefined && { context: tokensOf(context) }),
  };
  const variables = { ...client.variables?.(access), ...proxyExceptions(cli, access) };
  await warnOverruled(cli, client, variables);
  for (const line of syntax === 'json' ? [JSON.stringify(variables, null, 2)] : shellLines(variables, syntax))
    cli.print(line);
  const written = await launchers[client.name]?.settings?.(access, {
    command: client.commands[0] ?? client.name,
    env: cli.env,
    async writeFile(file, text) {
      const path = join(cli.home, file);
      await writeAtomically(path, text).catch((error: unknown) => {
        throw new CommandError(`Cannot write ${path} (${errorCode(error) ?? 'unknown error'}).`);
      });
      return path;
    },
  });
  // Commented out, so that a shell that evaluates the output ignores it.
  for (const { label, text } of written ?? client.settings?.(access) ?? []) {
    cli.print(`# In ${label}:`);
    for (const line of text.split('\n')) cli.print(`#   ${line}`.trimEnd());
  }
};

const proxyExceptions = ({ env }: Cli, { baseUrl }: Access): Variables =>
  withoutProxy(baseUrl, env.NO_PROXY ?? env.no_proxy);

/** The files of a client that set one of these variables to another value. */
const overruling = async ({ env }: Cli, client: ClientTool | undefined, variables: Variables) =>
  ((await launchers[client?.name ?? '']?.overruling?.({ env, cwd: process.cwd() })) ?? []).flatMap(
    ({ file, always, variables: own }) => {
      const names = Object.keys(own).filter((name) => isOther(own[name] ?? '', variables[name]));
      return names.length > 0 ? [{ file, always, names: names.join(', ') }] : [];
    },
  );

/** If the launcher sets none, a switch of the file may be off as well. */
const isOther = (own: string, set: string | undefined): boolean =>
  set === '' ? !offValues.includes(own.toLowerCase()) : set !== undefined && own !== set;

const offValues = ['', '0', 'false', 'no', 'off'];

const refuseOverruled = async (cli: Cli, client: ClientTool | undefined, variables: Variables): Promise<void> => {
  const found = (await overruling(cli, client, variables)).find(({ always }) => always);
  if (found)
    throw new CommandError(
      `${found.file} sets ${found.names}, which wins over all else: the gateway would not be used.`,
    );
};

const warnOverruled = async (cli: Cli, client: ClientTool, variables: Variables): Promise<void> => {
  for (const { file, always, names } of await overruling(cli, client, variables)) {
    const way = always ? '' : `, or use \`junctor run ${client.commands[0] ?? ''}\``;
    cli.warn(`${file} sets ${names}, which wins over these variables. Remove it there${way}.`);
  }
  const unset = Object.keys(variables).filter((name) => variables[name] === '' && cli.env[name]);
  if (unset.length > 0) cli.warn(`${unset.join(', ')} would direct it elsewhere: the lines below unset what is set.`);
};

/** The service's address and key, and what is known of the models that it offers. */
const accessOf = async ({ home }: Cli, located: ServiceLocation): Promise<Access> => {
  const { config, baseUrl, apiKey = anyKey } = located;
  if (!config) return { baseUrl, apiKey, model: routedName, models: [] };
  const { factsOf } = await offlineModelFacts(config, home);
  return accessTo(config, factsOf, { baseUrl, apiKey });
};

const tokensOf = (text: string): number => {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new CommandError('--context must be a whole number of tokens.');
  return Number(text);
};
