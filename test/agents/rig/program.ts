import { type ChildProcess, spawn } from 'node:child_process';

/** How a program ended. */
interface Ended {
  /** `undefined`: it was killed. */
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
  /** It took longer than it may. */
  readonly late: boolean;
}

/** A program at work, with all processes that it starts. */
interface Program {
  readonly ended: Promise<Ended>;
  /** Resolves when the output matches; rejects if the program ends first. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Asks it to end; kills it and its processes if it hasn't after a while. */
  readonly stop: () => Promise<void>;
}

interface How {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How long it may run, in milliseconds. */
  readonly limitMs?: number;
}

/** How long a program that is asked to end may take, in milliseconds. */
const graceMs = 5_000;

const atWork = new Set<ChildProcess>();

/** The group holds the programs that a program starts: agents start servers and shells. */
const killGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The whole group has ended.
  }
};

// Groups of their own don't end with this process.
process.once('exit', () => {
  for (const child of atWork) killGroup(child, 'SIGKILL');
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

/** Starts a program in a process group of its own, which ends with it. */
export const runProgram = (command: string, args: readonly string[], { cwd, env, limitMs }: How): Program => {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  atWork.add(child);
  let out = '';
  let err = '';
  let late = false;
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  const kill = (): void => killGroup(child, 'SIGKILL');
  const limit =
    limitMs &&
    setTimeout(() => {
      late = true;
      kill();
    }, limitMs);
  const ended = new Promise<Ended>((resolve) => {
    child.once('error', (error) => {
      err += error.message;
      resolve({ code: undefined, out, err, late });
    });
    // What it leaves behind ends with it, and may hold its output open until then.
    child.once('exit', kill);
    child.once('close', (code) => resolve({ code: code ?? undefined, out, err, late }));
  });
  void ended.then(() => {
    clearTimeout(limit);
    atWork.delete(child);
  });
  return {
    ended,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(out);
          if (match) resolve(match);
        };
        look();
        child.stdout.on('data', look);
        void ended.then(() => reject(new Error(`${command} ended without saying ${pattern}: ${out}${err}`)));
      }),
    async stop() {
      killGroup(child, 'SIGTERM');
      const timer = setTimeout(kill, graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
};
