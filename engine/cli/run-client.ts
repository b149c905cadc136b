import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { basename } from 'node:path';
import { type Cli, CommandError } from './cli.ts';
import { connectionTo, withoutProxy } from './connection.ts';
import { locateRunning } from './locate.ts';
import { clients, plainClients } from './neighbours/index.ts';

/**
 * `switchyard run <command …>`: runs a program that is pointed at the service, in this terminal. Gives its exit code; as shells
 * do, 128 and the signal's number for one that a signal ended.
 */
export const runClient = async (cli: Cli, [command = '', ...args]: readonly string[]): Promise<number> => {
  const connection = connectionTo(await locateRunning(cli));
  const name = basename(command).replace(/\.(?:exe|cmd|ps1)$/i, '');
  const known = clients.find(({ commands }) => commands.includes(name));
  const rows = known ? [known] : plainClients;
  const set = Object.fromEntries([
    ...rows.flatMap(({ variables }) => Object.entries(variables(connection))),
    ...Object.entries(withoutProxy(connection, cli.env)),
  ]);
  const env = Object.fromEntries(Object.entries({ ...cli.env, ...set }).filter(([, value]) => value !== ''));
  const child = spawn(command, [...(known?.args?.(connection) ?? []), ...args], { stdio: 'inherit', env });
  // The terminal sends its signals to the program as well, which decides what to make of them.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) process.on(signal, () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'there is no such command' : error.message;
      reject(new CommandError(`${command} can't be run: ${why}.`));
    });
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
};
