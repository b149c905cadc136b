import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bundle, moduleUrl, root } from '../paths.ts';

/** A process of the harness that answers one question after the other. */
export interface Helper<Question, Answer> {
  readonly pid: number;
  /** Rejects with what the process says went wrong, and when it takes longer than `longestMs`. */
  readonly ask: (question: Question, longestMs?: number) => Promise<Answer>;
  readonly stop: () => void;
}

type Envelope<Answer> = { readonly answer: Answer } | { readonly failed: string };

/** The programs of the harness, by their names in the bundle. */
const programs = {
  'bench-load': 'engine/bench/load/serve.ts',
  'bench-upstream': 'engine/bench/upstream/serve.ts',
  'bench-floor': 'engine/bench/floors/forward.ts',
} as const;

/**
 * Starts a program as a process of its own. It ends when this one does: the channel between them closes.
 * `env` is added to this process's environment. `Question` and `Answer` are what `answerQuestions` in that program was given.
 */
export const startHelper = <Question extends object, Answer>(
  program: keyof typeof programs,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Helper<Question, Answer> =>
  startProgram(fileURLToPath(moduleUrl(program, programs[program])), args, env, bundle ? [] : [typescript]);

const typescript = `--import=${new URL('engine/launch/typescript.js', root).href}`;

/** The same with the file of any program that calls `answerQuestions`. */
export const startProgram = <Question extends object, Answer>(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  execArgv: readonly string[] = [],
): Helper<Question, Answer> => {
  const child = fork(file, args, {
    execArgv: [...execArgv],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    pid: child.pid ?? 0,
    ask: (question, longestMs = 60_000) => ask<Answer>(child, question, longestMs),
    stop: () => void child.kill('SIGKILL'),
  };
};

/**
 * Lets a process wait until others have left their core, rather than take it at each wake-up: a server that sleeps and wakes less
 * than its clients would pay for that. Returns whether the system can.
 */
export const yieldAtWakeUp = (pid: number): boolean =>
  process.platform === 'linux' && spawnSync('chrt', ['-a', '-b', '-p', '0', String(pid)]).status === 0;

const ask = <Answer>(child: ChildProcess, question: object, longestMs: number): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const settle = (run: () => void): void => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onEnd);
      run();
    };
    // The border between two processes of one harness, both checked against the same types.
    const onMessage = (message: unknown): void => {
      const envelope = message as Envelope<Answer>;
      settle(() => ('failed' in envelope ? reject(new Error(envelope.failed)) : resolve(envelope.answer)));
    };
    const onEnd = (): void => settle(() => reject(new Error('a process of the harness ended unexpectedly')));
    const timer = setTimeout(() => settle(() => reject(new Error(`no answer within ${longestMs} ms`))), longestMs);
    child.on('message', onMessage);
    child.on('exit', onEnd);
    // Without the callback, `send` to a process that has just ended emits an error that nothing handles.
    child.send(question, (error) => error && onEnd());
  });

/** The other end: answers each question of the process that started this one, and ends with it. */
export const answerQuestions = <Question, Answer>(answer: (question: Question) => Promise<Answer> | Answer): void => {
  process.on('disconnect', () => process.exit(0));
  // A terminal interrupts all of its programs; the harness stops this one.
  process.on('SIGINT', () => {});
  // The border between two processes of one harness, both checked against the same types.
  process.on('message', (message: unknown) => {
    void Promise.resolve()
      .then(() => answer(message as Question))
      .then(
        (answered) => process.send?.({ answer: answered }),
        (error: unknown) => process.send?.({ failed: error instanceof Error ? error.message : String(error) }),
      );
  });
};
