import { join } from 'node:path';
import type { AppLog } from '../observe/log/logs.ts';
import { startThread } from '../paths.ts';
import type { Jobs, Said, StoreOpening } from './serve-store.ts';

/** The file of the requests in the service's folder. */
export const storeFile = (home: string): string => join(home, 'requests.db');

/** Reaches a file of the store. */
export interface StoreChannel {
  /** Rejects with a `StoreProblem` if it isn't done. `lines`: a question is about these requests alone. */
  readonly ask: <Name extends keyof Jobs>(
    name: Name,
    query: Jobs[Name]['query'],
    lines?: string,
  ) => Promise<Jobs[Name]['answer']>;
  /** Ends it. A later job opens it again. */
  readonly close: () => Promise<void>;
}

export type OpenStore = (opening: StoreOpening, log: Pick<AppLog, 'warn'>) => StoreChannel;

/** A job wasn't done. */
export class StoreProblem extends Error {
  /** The file must be checked by the one that writes. */
  readonly damaged: boolean;

  constructor(problem: string, damaged: boolean) {
    super(problem);
    this.damaged = damaged;
  }
}

/** Jobs that wait for a thread; further ones are refused. */
const maxWaiting = 1_000;

/** Milliseconds after which a thread that reads and isn't asked ends, which frees its memory. */
const idleMs = 60_000;

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

/** What a thread said of a job: its answer has the form that the job's name says. */
type Answered = Extract<Said, { readonly type: 'done' }> & { readonly answer: never };

type Heard = Exclude<Said, { readonly type: 'done' }> | Answered;

/** The jobs that a thread hasn't answered yet. */
class Waits {
  readonly #waiting = new Map<number, Waiting>();
  readonly #log: Pick<AppLog, 'warn'>;
  #jobs = 0;

  constructor(log: Pick<AppLog, 'warn'>) {
    this.#log = log;
  }

  get count(): number {
    return this.#waiting.size;
  }

  begin(waiting: Waiting): number {
    this.#jobs += 1;
    this.#waiting.set(this.#jobs, waiting);
    return this.#jobs;
  }

  hear(said: Heard): void {
    if (said.type === 'warning') {
      this.#log.warn(said.message, { detail: said.detail });
      return;
    }
    const waiting = this.#waiting.get(said.id);
    this.#waiting.delete(said.id);
    if (said.type === 'done') waiting?.resolve(said.answer);
    else waiting?.reject(new StoreProblem(said.problem, said.damaged));
  }

  end(problem: string): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new StoreProblem(problem, false));
  }
}

/** The used part of a thread, or of what takes its place. */
interface StoreThread {
  readonly on: (event: 'message' | 'error' | 'exit', listener: (said: Heard) => void) => unknown;
  readonly postMessage: (message: unknown) => void;
  readonly ref: () => void;
  readonly unref: () => void;
  readonly terminate: () => Promise<unknown>;
}

/** Opens a file in a thread that starts with the first job. It keeps the process alive only while jobs wait. */
export const openStoreIn =
  (startStore: () => StoreThread): OpenStore =>
  (opening, log) => {
    const waits = new Waits(log);
    let thread: StoreThread | undefined;
    let idle: NodeJS.Timeout | undefined;
    const end = async (): Promise<void> => {
      clearTimeout(idle);
      const ended = thread;
      thread = undefined;
      await ended?.terminate();
    };
    const begin = (): StoreThread => {
      const started = startStore();
      started.on('message', (said) => {
        waits.hear(said);
        if (waits.count > 0 || thread !== started) return;
        started.unref();
        if (opening.role === 'read') idle = setTimeout(() => void end(), idleMs).unref();
      });
      for (const event of ['error', 'exit'] as const) {
        started.on(event, () => {
          if (thread !== started) return;
          thread = undefined;
          waits.end('The thread of the store has ended.');
        });
      }
      started.postMessage(opening);
      return started;
    };
    const ask: StoreChannel['ask'] = (name, query, lines) =>
      new Promise((resolve, reject) => {
        if (waits.count >= maxWaiting) {
          reject(new StoreProblem('Too many questions wait for the store.', false));
          return;
        }
        clearTimeout(idle);
        thread ??= begin();
        thread.ref();
        const id = waits.begin({ resolve, reject });
        thread.postMessage({ id, name, query, lines });
      });
    return {
      ask,
      async close() {
        if (thread && opening.role === 'write') await ask('close', null).catch(() => undefined);
        await end();
        waits.end('The store is closed.');
      },
    };
  };

/** Memory of a thread's short-lived objects, in MiB: lines of a batch, which else grow to several times as much. */
const youngMb = 4;

/** Opens a file in a thread of its own. */
export const openStore: OpenStore = openStoreIn(() => {
  const worker = startThread('store-thread', 'engine/store/store-thread-main.ts', youngMb);
  return {
    on: (event, listener) => worker.on(event, listener),
    postMessage: (message) => worker.postMessage(message),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: () => worker.terminate(),
  };
});
