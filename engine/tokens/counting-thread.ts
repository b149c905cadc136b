import { Worker } from 'node:worker_threads';
import { bundle, moduleUrl, root } from '../places.ts';
import type { CountJob, CountResult } from './count-thread.ts';
import type { TextCounting } from './prompt-tokens.ts';

/** Texts that wait or are being counted have at most so many characters; a count beyond them is refused. */
const mostWaiting = 64_000_000;
/** An unused thread goes after so long, and with it the 70 MB that an encoding takes. In milliseconds. */
const idleMs = 10 * 60_000;

interface Waiting {
  readonly characters: number;
  readonly resolve: (counts: readonly number[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Counts in a thread of its own, so that the event loop doesn't stand still meanwhile. The thread is started when it is first
 * needed (some 300 ms until its first count), and keeps no process alive but while it counts.
 */
export class CountingThread implements TextCounting {
  readonly #waiting = new Map<number, Waiting>();
  readonly #start: () => Worker;
  #worker: Worker | undefined;
  #characters = 0;
  #jobs = 0;
  #idle: NodeJS.Timeout | undefined;

  /** `start` is for tests. */
  constructor(start: () => Worker = startThread) {
    this.#start = start;
  }

  readonly warm = (): void => {
    this.#worker ??= this.#begin();
  };

  readonly count = (texts: readonly string[]): Promise<readonly number[]> => {
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    if (this.#characters > 0 && this.#characters + characters > mostWaiting) {
      return Promise.reject(new Error('Too many texts wait to be counted.'));
    }
    this.#worker ??= this.#begin();
    const worker = this.#worker;
    const id = this.#jobs;
    this.#jobs += 1;
    this.#characters += characters;
    clearTimeout(this.#idle);
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { characters, resolve, reject });
      const job: CountJob = { id, texts };
      worker.postMessage(job);
    });
  };

  /** Ends the thread; counts that are asked for later start another. */
  close(): void {
    clearTimeout(this.#idle);
    void this.#worker?.terminate();
    this.#fail(this.#worker, new Error('The counting was ended.'));
  }

  #begin(): Worker {
    const worker = this.#start();
    worker.on('message', (result: CountResult) => this.#settle(result));
    worker.on('error', (error) => this.#fail(worker, error));
    worker.on('exit', () => this.#fail(worker, new Error('The thread that counts has ended.')));
    worker.unref();
    this.#rest();
    return worker;
  }

  #settle({ id, counts }: CountResult): void {
    const job = this.#waiting.get(id);
    if (!job) return;
    this.#waiting.delete(id);
    this.#characters -= job.characters;
    if (counts) job.resolve(counts);
    else job.reject(new Error('The texts could not be counted.'));
    if (this.#waiting.size === 0) this.#rest();
  }

  /** Nothing is to be done just now. */
  #rest(): void {
    this.#worker?.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), idleMs).unref();
  }

  #fail(worker: Worker | undefined, error: Error): void {
    // One that was ended, and whose place another has taken.
    if (worker === undefined || worker !== this.#worker) return;
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#characters = 0;
    for (const { reject } of waiting) reject(error);
  }
}

/** Among the sources, a thread needs the loader of TypeScript first. */
const startThread = (): Worker => {
  const module = moduleUrl('count-thread', 'engine/tokens/count-thread.ts');
  return bundle
    ? new Worker(module, { execArgv: [] })
    : new Worker(new URL('engine/launch/thread.js', root), { execArgv: [], workerData: module.href });
};
