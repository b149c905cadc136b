import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { createProgram, failureText } from '../../../engine/cli/commands/commands.ts';

/** The command's launcher. */
export const bin = resolve(import.meta.dirname, '../../../engine/cli/junctor.js');

/** The result of a command. */
interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A test's own folder, and commands that use it. */
export interface CommandRig {
  readonly home: string;
  /**
   * Does what a command does, in this process: for its output and exit code, where they depend on neither the launcher nor standard
   * input, which `run` is for. Takes a fifth of the processor time.
   */
  readonly ask: (args: readonly string[], more?: Pick<RunMore, 'env'>) => Promise<CommandResult>;
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
  const home = await mkdtemp(join(tmpdir(), 'junctor-command-'));
  if (config) await writeFile(join(home, 'config.json'), JSON.stringify({ PORT: 0, ...config }));
  const running = new Set<ChildProcess>();
  const { PATH = '', JUNCTOR_HTTP = '' } = process.env;
  const usual = { PATH, HOME: home, JUNCTOR_HOME: home, JUNCTOR_HTTP };
  const begin: CommandRig['begin'] = (args, { env = {}, cwd = tmpdir(), input, within = [] } = {}) => {
    const [first = '', ...words] = [...within, process.execPath, program, ...args];
    const child = spawn(first, words, {
      cwd,
      env: { ...usual, ...env },
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
    const says = (text: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (out.includes(text)) resolve();
        };
        look();
        child.stdout.on('data', look);
        void ended.then(() => reject(new Error(`ended without saying ${text}: ${out}${err}`)));
      });
    return { child, out: () => out + err, says, ended };
  };
  const run: CommandRig['run'] = (args, more) => begin(args, more).ended;
  const ask: CommandRig['ask'] = async (args, { env = {} } = {}) => {
    // A service that it starts gets the arguments of this process, of which the test runner's are none of its.
    process.execArgv.splice(0);
    const result = { code: 0, out: '', err: '' };
    const print = (line: string): void => {
      result.out += `${line}\n`;
    };
    const warn = (line: string): void => {
      result.err += `${line}\n`;
    };
    const asked = createProgram(async (command) => {
      try {
        const code = await command({ env: { ...usual, ...env }, home, print, warn });
        if (typeof code === 'number') result.code = code;
      } catch (error) {
        warn(failureText(error));
        result.code = 1;
      }
    });
    await asked.parseAsync(args, { from: 'user' });
    return result;
  };
  t.teardown(async () => {
    // Without it, nothing runs in the background.
    if (existsSync(join(home, 'junctor.pid'))) await ask(['stop', '--force']);
    for (const child of running) child.kill('SIGKILL');
    await rm(home, { recursive: true, force: true, maxRetries: 10 });
  });
  return { home, ask, run, begin };
};

/** The service's URL in the output of the start command. */
export const addressIn = (text: string): string => /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? '';
