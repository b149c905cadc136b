import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';

/** The command's launcher. */
export const bin = resolve(import.meta.dirname, '../../engine/cli/switchyard.js');

/** The result of a command. */
interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A test's own folder, and commands that use it. */
export interface CommandRig {
  readonly home: string;
  /** Runs a command to its end, with a time limit. */
  readonly run: (args: readonly string[], more?: RunMore) => Promise<CommandResult>;
  /** Starts a command in the background. Its output is collected in `out`. */
  readonly begin: (args: readonly string[], more?: RunMore) => Running;
}

interface RunMore {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Time limit in milliseconds; default: a minute. */
  readonly mostMs?: number;
}

export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  /** Resolves when the output contains this; rejects if the process exits first. */
  readonly says: (text: string) => Promise<void>;
  readonly ended: Promise<CommandResult>;
}

const longestMs = 60_000;

/** Creates the folder with this `config.json`; the test's end stops a running service and removes it. */
export const commandRig = async (t: ExecutionContext, config?: object): Promise<CommandRig> => {
  const home = await mkdtemp(join(tmpdir(), 'switchyard-command-'));
  if (config) await writeFile(join(home, 'config.json'), JSON.stringify({ PORT: 0, ...config }));
  const running = new Set<ChildProcess>();
  const begin: CommandRig['begin'] = (args, { env = {}, cwd = tmpdir(), input, mostMs = longestMs } = {}) => {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [bin, ...args], {
      cwd,
      env: { PATH, HOME: home, SWITCHYARD_HOME: home, ...env },
    });
    running.add(child);
    let out = '';
    let err = '';
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      err += data;
    });
    child.stdin.end(input ?? '');
    const timer = setTimeout(() => child.kill('SIGKILL'), mostMs);
    const ended = new Promise<CommandResult>((resolve) => {
      child.once('close', (code) => {
        clearTimeout(timer);
        running.delete(child);
        resolve({ code, out, err });
      });
    });
    const says = async (text: string): Promise<void> => {
      while (!out.includes(text)) {
        if (child.exitCode !== null) throw new Error(`ended without saying ${text}: ${out}${err}`);
        await wait(20);
      }
    };
    return { child, out: () => out + err, says, ended };
  };
  const run: CommandRig['run'] = (args, more) => begin(args, more).ended;
  t.teardown(async () => {
    await run(['stop', '--force']);
    for (const child of running) child.kill('SIGKILL');
    await rm(home, { recursive: true, force: true });
  });
  return { home, run, begin };
};

/** The service's URL in the output of the start command. */
export const addressIn = (text: string): string => /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? '';
