import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { configFile } from '../../config/read.ts';
import { defaultSettings } from '../../config/sections/service-settings.ts';
import { commandFile } from '../../paths.ts';
import { findService, isAlive } from '../../service/workers/find-service.ts';
import { pidPath, removePidFile } from '../../service/workers/pid-file.ts';
import { type Cli, CommandError } from '../cli.ts';
import { formerNotice } from '../former-name.ts';
import { type Leave, leaveArguments, leaveOf } from '../leave.ts';
import { callService, locateService, reachService, type ServiceLocation } from '../reach-service.ts';
import { buildUi } from './ui.ts';

/** `junctor start`: runs the service in the foreground until a signal, or in the background with `daemon`. */
export const startService = async (
  cli: Cli,
  { daemon = false, ...leave }: Leave & { readonly daemon?: boolean },
): Promise<void> => {
  const allowed = leaveOf(leave);
  for (const notice of startNotices(cli)) cli.warn(notice);
  if (daemon) return startDaemon(cli, leaveArguments(leave));
  const { main } = await import('../../service/main.ts');
  await main({
    env: cli.env,
    home: cli.home,
    ...allowed,
    // npm signals only the shell that it runs a script in, so the service watches its parent.
    followParent: cli.env.npm_lifecycle_event !== undefined,
    report: cli.warn,
    greet: (text) => cli.print(text.trimEnd()),
  });
  buildUi();
};

/** Expectations of a user that this start doesn't meet. */
const startNotices = ({ env, home }: Cli): readonly string[] => {
  const former = formerNotice(env, home);
  const { PORT: port } = env;
  const isIgnored = port && !env.JUNCTOR_PORT && !refersToPort(configFile(home, env));
  return [
    ...(former === undefined ? [] : [`note: ${former}`]),
    ...(isIgnored ? [`warning: the variable PORT=${port} is ignored: JUNCTOR_PORT=${port} sets the port`] : []),
  ];
};

/** Whether a configuration takes its port, or anything else, from the variable `PORT`. */
const refersToPort = (file: string): boolean => {
  try {
    return /\$(?:PORT\b|\{PORT\})/.test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
};

/** Margin on top of the configured times, in milliseconds. */
const graceMs = 10_000;
/** Time until SIGKILL with `--force`, in milliseconds. */
const forceMs = 2_000;

/**
 * `junctor stop`: stops the service after its streams have ended, or at once with `force`. Returns when the process has
 * exited. Signals only a process that it has confirmed to be the service.
 */
export const stop = async (cli: Cli, { force = false }: { readonly force?: boolean }): Promise<void> => {
  const located = await locateService(cli);
  const { found, config } = located;
  if (found.type === 'none') return cli.print('Junctor is not running.');
  if (found.type === 'stale') {
    removePidFile(cli.home, found.pid);
    return cli.print(`Junctor is not running. Removed the stale file ${pidPath(cli.home)} of process ${found.pid}.`);
  }
  const { pid } = found;
  await confirm(located, pid);
  const isStopping = found.type === 'silent' && found.state === 'stopping';
  // A second SIGTERM makes a stopping service exit at once, so it gets none here.
  if (!isStopping) signal(pid, 'SIGTERM');
  if (force) {
    if (!(await exitsWithin(pid, 100))) signal(pid, 'SIGTERM');
    if (!(await exitsWithin(pid, forceMs))) signal(pid, 'SIGKILL');
  }
  const { leaveMs, drainMs } = (config ?? defaultSettings()).timeouts;
  if (!(await exitsWithin(pid, 1_000))) cli.warn('Waiting for active streams to finish …');
  if (!(await exitsWithin(pid, leaveMs + drainMs + graceMs))) {
    throw new CommandError(`Process ${pid} is still running. Use \`junctor stop --force\` to stop it at once.`);
  }
  cli.print(`Stopped Junctor (process ${pid}).`);
};

/** Checks that the service at the address has this PID: ports and PIDs are reused. Throws a `CommandError` if not. */
const confirm = async (located: ServiceLocation, pid: number): Promise<void> => {
  if (located.found.type !== 'running') return;
  const answer = await callService(located, 'GET', '/api/service').catch(() => undefined);
  const serving = answer?.body.pid;
  if (typeof serving === 'number' && serving !== pid) {
    throw new CommandError(`${located.baseUrl} is served by process ${serving}, not ${pid}. Nothing was stopped.`);
  }
};

const exitsWithin = async (pid: number, withinMs: number): Promise<boolean> => {
  for (const deadlineMs = Date.now() + withinMs; isAlive(pid); await wait(30))
    if (Date.now() > deadlineMs) return false;
  return true;
};

/** Sends a signal if the process still runs. */
const signal = (pid: number, name: NodeJS.Signals): void => {
  if (isAlive(pid)) process.kill(pid, name);
};

/** `junctor restart`: replaces the serving processes and reloads the configuration; no request is lost. */
export const restart = async (cli: Cli): Promise<void> => {
  const located = await reachService(cli);
  const { status, body } = await callService(located, 'POST', '/api/restart');
  const message = typeof body.message === 'string' ? body.message : `The service returned status ${status}.`;
  if (status !== 200) {
    const hint = status === 401 ? ' The configuration and the running service have different APIKEYs.' : '';
    throw new CommandError(message.trim() + hint);
  }
  cli.print(message);
};

/** Start-up timeout, in milliseconds. */
const startMs = 60_000;

/** Starts the service in the background and waits until it answers. Its output goes to `start.log` in `home`. */
const startDaemon = async ({ home, env, print, warn }: Cli, leave: readonly string[]): Promise<void> => {
  const earlier = await findService(home);
  if (earlier.type === 'running') {
    throw new CommandError(`Junctor is already running on ${home} (process ${earlier.pid}, ${earlier.baseUrl}).`);
  }
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const logPath = join(home, 'start.log');
  const log = openSync(logPath, 'w', 0o600);
  // Runs in its own session, so that it survives the terminal, and in `home`, so that it keeps no other folder busy.
  const child = spawn(process.execPath, [...process.execArgv, commandFile, 'start', ...leave], {
    detached: true,
    windowsHide: true,
    stdio: ['ignore', log, log],
    cwd: home,
    // Cleared, so that a service started by npm outlives npm.
    env: {
      ...env,
      JUNCTOR_HOME: home,
      JUNCTOR_CONFIG: configFile(home, env),
      npm_lifecycle_event: undefined,
    },
  });
  closeSync(log);
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', () => {
    ended = true;
  });
  for (const deadlineMs = Date.now() + startMs; Date.now() < deadlineMs; await wait(50)) {
    if (ended) throw new CommandError(failureMessage(logPath));
    const found = await findService(home);
    if (found.type !== 'running' || found.pid !== child.pid) continue;
    child.unref();
    for (const line of readFileSync(logPath, 'utf8').split('\n')) if (line.startsWith('warning: ')) warn(line);
    print(`Junctor is running on ${found.baseUrl} (process ${found.pid}).`);
    return;
  }
  throw new CommandError(`Junctor did not respond within ${startMs / 1000} s; see ${logPath}.`);
};

/** Error message from the end of the log; it may span several lines. */
const failureMessage = (logPath: string): string => {
  const text = readFileSync(logPath, 'utf8').trim();
  const prefix = '\njunctor: ';
  const at = `\n${text}`.lastIndexOf(prefix);
  const message = at < 0 ? (text.split('\n').at(-1) ?? '') : text.slice(at - 1 + prefix.length);
  return message || `The service exited without a message; see ${logPath}.`;
};
