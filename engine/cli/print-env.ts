import { type Cli, CommandError } from './cli.ts';
import { connectionTo, withoutProxy } from './connection.ts';
import { locate } from './locate.ts';
import { clients } from './neighbours/index.ts';
import { type Shell, shellLines, shells } from './shell-lines.ts';

/** `switchyard env --for …`: the variables, or the piece of a configuration file, that point a program at the service. */
export const printEnv = async (
  cli: Cli,
  { for: name, shell = 'posix' }: { readonly for: string; readonly shell?: string },
): Promise<void> => {
  const client = clients.find((row) => row.name === name);
  if (!client) throw new CommandError(`--for is one of ${clients.map((row) => row.name).join(', ')}.`);
  if (!isShell(shell)) throw new CommandError(`--shell is one of ${shells.join(', ')}.`);
  const located = await locate(cli);
  if (located.found.type !== 'running') cli.tell('Switchyard is not running; these are the addresses it would have.');
  const connection = connectionTo(located);
  const variables = { ...client.variables(connection), ...withoutProxy(connection, cli.env) };
  for (const line of shellLines(variables, shell)) cli.say(line);
  const block = client.block?.(connection);
  if (!block) return;
  // In front of each line, so that a shell that takes in the output passes over it.
  cli.say(`# In ${block.file}:`);
  for (const line of block.text.split('\n')) cli.say(`#   ${line}`.trimEnd());
};

const isShell = (name: string): name is Shell => shells.some((shell) => shell === name);
