import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
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
  /** Runs a command to its end. */
  readonly run: (args: readonly string[], more?: RunMore) => Promise<CommandResult>;
  /** Starts a command in the background. Its output is collected in `out`. */
  readonly begin: (args: readonly string[], more?: RunMore) => Running;
}

interface RunMore {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** A program and its arguments, to which the command is appended. */
  readonly within?: readonly string[];
}

export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  /** Resolves when the output contains this; rejects if the process exits first. */
  readonly says: (text: string) => Promise<void>;
  readonly ended: Promise<CommandResult>;
}

/** So many tests of a file run commands at once: the start of a service keeps a core busy, and commands give up some day. */
const mostTests = 4;
const atWork = new Set<ExecutionContext>();
const waiting: (() => void)[] = [];

/** Waits for the test's turn, which lasts to its end. */
const takeTurn = async (t: ExecutionContext): Promise<void> => {
  if (atWork.has(t)) return;
  while (atWork.size >= mostTests) await new Promise<void>((resolve) => waiting.push(resolve));
  atWork.add(t);
  t.teardown(() => {
    atWork.delete(t);
    waiting.shift()?.();
  });
};

/**
 * Creates the folder with this `config.json`; the test's end stops a running service and removes it. `program` is the command of
 * another installation.
 */
export const commandRig = async (t: ExecutionContext, config?: object, program = bin): Promise<CommandRig> => {
  await takeTurn(t);
  const home = await mkdtemp(join(tmpdir(), 'switchyard-command-'));
  if (config) await writeFile(join(home, 'config.json'), JSON.stringify({ PORT: 0, ...config }));
  const running = new Set<ChildProcess>();
  const begin: CommandRig['begin'] = (args, { env = {}, cwd = tmpdir(), input, within = [] } = {}) => {
    const { PATH = '', SWITCHYARD_HTTP = '' } = process.env;
    const [first = '', ...words] = [...within, process.execPath, program, ...args];
    const child = spawn(first, words, {
      cwd,
      env: { PATH, HOME: home, SWITCHYARD_HOME: home, SWITCHYARD_HTTP, ...env },
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
    const ended = new Promise<CommandResult>((resolve) => {
      child.once('close', (code) => {
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
    // Without it, nothing runs in the background.
    if (existsSync(join(home, 'switchyard.pid'))) await run(['stop', '--force']);
    for (const child of running) child.kill('SIGKILL');
    await rm(home, { recursive: true, force: true });
  });
  return { home, run, begin };
};

/** The service's URL in the output of the start command. */
export const addressIn = (text: string): string => /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? '';
