import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../../engine/http/bind.ts';
import { until } from '../until.ts';

/** Whether a program is installed, and does what it is asked here. */
const isInstalled = (program: string, args: readonly string[]): boolean => spawnSync(program, args).status === 0;

/** Whether a test that needs this program has to be left out, which is said. */
export const isMissing = (t: ExecutionContext, program: string, ...args: readonly string[]): boolean => {
  if (isInstalled(program, args.length > 0 ? args : ['--version'])) return false;
  t.log(`${program} is not installed, or not allowed here: left out`);
  t.pass();
  return true;
};

/** A store of a test's own. */
export interface TestStore {
  readonly port: number;
  /** `redis://127.0.0.1:…`. */
  readonly url: string;
  /** Runs a command with all rights. */
  readonly run: (...command: string[]) => Promise<unknown>;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Kills it; `start` begins anew with nothing. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** Starts a Redis in a folder of its own; the test's end stops it. */
export const startRedis = async (t: ExecutionContext, ...options: readonly string[]): Promise<TestStore> => {
  const folder = mkdtempSync(join(tmpdir(), 'junctor-redis-'));
  const port = await freePort('127.0.0.1');
  let child: ChildProcess | undefined;
  const signal = (name: NodeJS.Signals): void => void child?.kill(name);
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    signal('SIGKILL');
    await exited;
  };
  t.teardown(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `redis://127.0.0.1:${port}`;
  const run = async (...command: string[]): Promise<unknown> => {
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    await client.connect();
    return client.sendCommand(command).finally(() => client.destroy());
  };
  const start = async (): Promise<void> => {
    const fixed = ['--port', String(port), '--dir', folder, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    child = spawn('redis-server', [...fixed, ...options], { stdio: 'ignore' });
    await until(() =>
      run('PING').then(
        () => true,
        () => false,
      ),
    );
  };
  await start();
  return { port, url, run, signal, kill, start };
};
