import { type ChildProcess, spawn } from 'node:child_process';
import { errorCode } from '../../model/fault.ts';
import { isJsonObject, parseJson } from '../../model/json/json.ts';

/** Options for running a key's command. */
export interface CommandRun {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** The folder in which it runs. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time limit, in milliseconds. */
  readonly limitMs: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** The key that a command printed, or in a few words what it did instead. The words hold nothing of its output. */
export type CommandResult = { readonly key: string } | { readonly problem: string };

/** The part of the output that is read; no header holds a longer key. */
const maxBytes = 16_384;

/**
 * Runs a command for a key: without a shell, without input, and without reading its error output, which may hold secrets. It is
 * killed with all processes of its group when its time or output is over the limit. Never rejects.
 */
export const runCommand = ({ command, cwd, env, limitMs, signal }: CommandRun): Promise<CommandResult> =>
  new Promise((resolve) => {
    const [program = '', ...args] = command;
    let child: ChildProcess;
    try {
      // A group of its own can be killed with what the program has started; Windows has none.
      const detached = process.platform !== 'win32';
      child = spawn(program, args, { cwd, env, detached, windowsHide: true, stdio: ['ignore', 'pipe', 'ignore'] });
    } catch (error) {
      resolve({ problem: unstarted(errorCode(error)) });
      return;
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const settle = (result: CommandResult): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(result);
    };
    const end = (problem: string): void => {
      settle({ problem });
      kill(child);
      child.stdout?.destroy();
    };
    const abort = (): void => end('was ended, since the service stops');
    const timer = setTimeout(() => end(`gave no key within ${limitMs / 1000} s`), limitMs);
    signal.addEventListener('abort', abort);
    child.stdout?.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > maxBytes) end(`printed more than ${maxBytes / 1024} KiB`);
      else chunks.push(chunk);
    });
    child.once('error', (error) => settle({ problem: unstarted(errorCode(error)) }));
    child.once('close', (code, killedBy) => {
      if (killedBy !== null) settle({ problem: `was ended by ${killedBy}` });
      else if (code !== 0) settle({ problem: `ended with exit code ${code}` });
      else settle(readKey(new TextDecoder().decode(Buffer.concat(chunks))));
    });
  });

const unstarted = (code: string | undefined): string =>
  code === 'ENOENT' ? 'is not found' : `can't be run (${code ?? 'unknown error'})`;

const kill = (child: ChildProcess): void => {
  try {
    if (child.pid === undefined || process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
};

/**
 * Reads the output: one line, which a header can hold, or a JSON object, as programs print a key for signatures. Blank space around it
 * doesn't count.
 */
const readKey = (output: string): CommandResult => {
  const printed = output.startsWith('{') ? parseJson(output) : undefined;
  const key = isJsonObject(printed) ? JSON.stringify(printed) : output.trim();
  if (key === '') return { problem: 'printed nothing' };
  if (/[\r\n]/.test(key)) return { problem: 'printed more than one line' };
  return /^[\x20-\x7e]*$/.test(key) ? { key } : { problem: 'printed a character that no key has' };
};
