import type { Worker } from 'node:worker_threads';
import { startThread } from '../../paths.ts';
import type { CountJob, CountResult } from './counting-thread-main.ts';
import type { TextCounting } from './prompt-tokens.ts';

/** Characters of queued texts; a count beyond the bound is refused. */
const maxQueued = 64_000_000;
/** Milliseconds after which an idle thread ends, which frees the encoding's 70 MB. */
const idleMs = 10 * 60_000;

interface PendingJob {
  readonly characters: number;
  readonly resolve: (counts: readonly number[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Counts tokens in a separate thread, so that the event loop isn't blocked. Starts the thread on first use, which takes some
 * 300 ms. The thread keeps the process alive only while it counts.
 */
export class CountingThread implements TextCounting {
  readonly #pending = new Map<number, PendingJob>();
  #worker: Worker | undefined;
  #characters = 0;
  #jobs = 0;
  #idle: NodeJS.Timeout | undefined;

  readonly warm = (): void => {
    this.#worker ??= this.#begin();
  };

  readonly count = (texts: readonly string[]): Promise<readonly number[]> => {
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    if (this.#characters > 0 && this.#characters + characters > maxQueued) {
      return Promise.reject(new Error('Too many texts are waiting to be counted.'));
    }
    this.#worker ??= this.#begin();
    const worker = this.#worker;
    const id = this.#jobs;
    this.#jobs += 1;
    this.#characters += characters;
    clearTimeout(this.#idle);
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { characters, resolve, reject });
      const job: CountJob = { id, texts };
      worker.postMessage(job);
    });
  };

  /** Ends the thread. A later count starts a new one. */
  close(): void {
    clearTimeout(this.#idle);
    void this.#worker?.terminate();
    this.#fail(this.#worker, new Error('Counting was stopped.'));
  }

  #begin(): Worker {
    const worker = startThread('count-thread', 'engine/routing/tokens/counting-thread-main.ts');
    worker.on('message', (result: CountResult) => this.#settle(result));
    worker.on('error', (error) => this.#fail(worker, error));
    worker.on('exit', () => this.#fail(worker, new Error('The counting thread has ended.')));
    worker.unref();
    this.#becomeIdle();
    return worker;
  }

  #settle({ id, counts }: CountResult): void {
    const job = this.#pending.get(id);
    if (!job) return;
    this.#pending.delete(id);
    this.#characters -= job.characters;
    if (counts) job.resolve(counts);
    else job.reject(new Error('The texts could not be counted.'));
    if (this.#pending.size === 0) this.#becomeIdle();
  }

  /** Lets the process exit, and ends the thread after a while without jobs. */
  #becomeIdle(): void {
    this.#worker?.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), idleMs).unref();
  }

  #fail(worker: Worker | undefined, error: Error): void {
    // Ignores a thread that was ended or replaced.
    if (worker === undefined || worker !== this.#worker) return;
    this.#worker = undefined;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#characters = 0;
    for (const { reject } of pending) reject(error);
  }
}
