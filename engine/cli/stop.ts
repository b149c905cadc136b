import { setTimeout as wait } from 'node:timers/promises';
import { defaults } from '../config/config.ts';
import { isAlive } from '../workers/is-service.ts';
import { pidPath, removePidFile } from '../workers/pid-file.ts';
import { callService } from './call-service.ts';
import { type Cli, CommandError } from './cli.ts';
import { type Located, locate } from './locate.ts';

/** Beyond the time that the configuration grants to streams, in milliseconds. */
const graceMs = 10_000;
/** How long a service that was told not to wait may take. */
const forceMs = 2_000;

/**
 * `switchyard stop`: ends the service when its streams have ended, or at once with `force`. Returns when its process is gone.
 * Never sends a signal to a process that isn't the service.
 */
export const stop = async (cli: Cli, { force = false }: { readonly force?: boolean }): Promise<void> => {
  const located = await locate(cli);
  const { found, config } = located;
  if (found.type === 'none') return cli.say('Switchyard is not running.');
  if (found.type === 'stale') {
    removePidFile(cli.home, found.pid);
    return cli.say(`Switchyard is not running; removed ${pidPath(cli.home)}, left behind by process ${found.pid}.`);
  }
  const { pid } = found;
  await confirm(located, pid);
  const isStopping = found.type === 'silent' && found.state === 'stopping';
  // To a service that is stopping, a signal says not to wait.
  if (!isStopping) signal(pid, 'SIGTERM');
  if (force) {
    if (!(await isGone(pid, 100))) signal(pid, 'SIGTERM');
    if (!(await isGone(pid, forceMs))) signal(pid, 'SIGKILL');
  }
  const drainMs = config?.timeouts.drainMs ?? defaults.timeouts.drainMs;
  if (!(await isGone(pid, 1_000))) cli.tell('Streams in flight go on to their end …');
  if (!(await isGone(pid, drainMs + graceMs))) {
    throw new CommandError(`Process ${pid} has not ended yet; \`switchyard stop --force\` does not wait.`);
  }
  cli.say(`Switchyard was stopped (process ${pid}).`);
};

/** The port may be another service's by now, and the number another process's. */
const confirm = async (located: Located, pid: number): Promise<void> => {
  if (located.found.type !== 'running') return;
  const answer = await callService(located, 'GET', '/api/service').catch(() => undefined);
  const serving = answer?.body.pid;
  if (typeof serving === 'number' && serving !== pid) {
    throw new CommandError(`${located.baseUrl} is served by process ${serving}, not by ${pid}: nothing was stopped.`);
  }
};

const isGone = async (pid: number, withinMs: number): Promise<boolean> => {
  for (const deadlineMs = Date.now() + withinMs; isAlive(pid); await wait(30))
    if (Date.now() > deadlineMs) return false;
  return true;
};

/** Between a look and a signal it may have ended. */
const signal = (pid: number, name: NodeJS.Signals): void => {
  if (isAlive(pid)) process.kill(pid, name);
};
