import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { treeOf } from '../measure/process-tree.ts';

/** A program that was started. */
interface Program {
  readonly pid: number;
  /** Resolves with the first match in its output; rejects when it ends without, or after 30 s. */
  readonly says: (pattern: RegExp) => Promise<string>;
  /** Ends it with all its descendants. */
  readonly stop: () => Promise<void>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) for (const pid of treeOf(child.pid ?? 0)) end(pid);
});

const end = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
};

/** Starts a program with just this environment and `PATH`. */
export const runProgram = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program => {
  const { PATH = '' } = process.env;
  const child = spawn(command, args, { env: { PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let said = '';
  let over = false;
  const hear = (data: Buffer | Error): void => {
    said = (said + String(data)).slice(-20_000);
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  child.once('error', hear);
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      over = true;
      running.delete(child);
      resolve();
    });
  });
  return {
    pid: child.pid ?? 0,
    async says(pattern) {
      for (let waitedMs = 0; waitedMs < 30_000 && !over; waitedMs += 5) {
        const found = pattern.exec(said)?.[0];
        if (found !== undefined) return found;
        await wait(5);
      }
      throw new Error(`${command} ${args.join(' ')} didn’t start: ${said.slice(-500)}`);
    },
    async stop() {
      const tree = treeOf(child.pid ?? 0);
      child.kill('SIGTERM');
      await Promise.race([ended, wait(3_000, undefined, { ref: false })]);
      for (const pid of tree) end(pid);
      await ended;
    },
  };
};
