import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { root } from '../places.ts';
import { findService } from '../workers/find-service.ts';
import { type Cli, CommandError } from './cli.ts';

/** How long a service may take to answer. */
const startMs = 60_000;

const bin = fileURLToPath(new URL('engine/cli/switchyard.js', root));

/** Starts the service in the background and waits until it answers. What it says goes to `start.log` in its folder. */
export const startDaemon = async ({ home, env, say }: Cli, transformerFolders: readonly string[]): Promise<void> => {
  const earlier = await findService(home);
  if (earlier.type === 'running') {
    throw new CommandError(`Switchyard already runs on ${home} (process ${earlier.pid}, ${earlier.baseUrl}).`);
  }
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const logPath = join(home, 'start.log');
  const log = openSync(logPath, 'w', 0o600);
  const folders = transformerFolders.flatMap((folder) => ['--allow-transformer-path', folder]);
  // Its own session, so that the terminal's end isn't its own; and no folder is kept busy but its own.
  const child = spawn(process.execPath, [...process.execArgv, bin, 'start', ...folders], {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: home,
    env: { ...env, SWITCHYARD_HOME: home },
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
    if (ended) throw new CommandError(lastWords(logPath));
    const found = await findService(home);
    if (found.type !== 'running' || found.pid !== child.pid) continue;
    child.unref();
    say(`Switchyard listens on ${found.baseUrl} (process ${found.pid}).`);
    return;
  }
  throw new CommandError(`Switchyard did not answer within ${startMs / 1000} s; see ${logPath}.`);
};

/** The line in which the service said why it ended. */
const lastWords = (logPath: string): string => {
  const line = readFileSync(logPath, 'utf8').trim().split('\n').at(-1) ?? '';
  return line.replace(/^switchyard: /, '') || `The service ended without a word; see ${logPath}.`;
};
