import { messageOf } from '../../model/fault.ts';
import type { ListenAddress } from './listen-address.ts';
import type { Worker } from './worker.ts';
import type { WorkerSet } from './worker-set.ts';

/** Options of a supervisor. */
interface SupervisorOptions {
  /** Starts a worker that shares the address `taken`. Rejects with a message for users. */
  readonly fork: (taken: ListenAddress | undefined) => Promise<Worker>;
  /** Currently configured number of workers. Rejects with a message for users. */
  readonly wanted: () => Promise<number>;
  /** Judges the configuration of the next workers as the serving ones would at a reload. Rejects with a message for users. */
  readonly judge?: () => Promise<void>;
  /** Prints a line for the user who started the service. */
  readonly report: (line: string) => void;
  /** Called when the set of serving processes has changed. */
  readonly changed: (workers: WorkerSet) => void;
  readonly startedAtMs: number;
}

/** Keeps the configured number of workers running: replaces crashed ones, and all of them on a restart. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #backOffMs = backOff();
  /** Workers that accept new connections. */
  #serving: readonly Worker[] = [];
  /** Workers that only finish their open requests. */
  readonly #retiring = new Set<Worker>();
  #place: ListenAddress | undefined;
  #restarts = 0;
  /** The last restart or replacement asked for. They run one after another, since each counts the serving workers. */
  #lastChange: Promise<void> = Promise.resolve();
  /** A restart that hasn't begun. */
  #nextRestart: Promise<void> | undefined;
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Address of the service; known once a worker serves. */
  get place(): ListenAddress | undefined {
    return this.#place;
  }

  get workers(): WorkerSet {
    return {
      pid: process.pid,
      startedAtMs: this.#options.startedAtMs,
      restarts: this.#restarts,
      workers: this.#serving.map(({ pid, startedAtMs }) => ({ pid, startedAtMs })),
    };
  }

  /** Starts the configured number of workers. Rejects if one can't start. */
  async start(): Promise<void> {
    const count = await this.#options.wanted();
    for (let index = 0; index < count; index += 1) await this.#fork();
  }

  /** Adds a worker to the serving ones and watches for its exit. */
  takeIn(worker: Worker): void {
    this.#serving = [...this.#serving, worker];
    this.#place = worker.place;
    void worker.exited.then(({ how }) => this.#exited(worker, how));
    this.#options.changed(this.workers);
  }

  /**
   * Replaces all serving workers one by one; an old one retires when a new one serves. Rejects with a message for users if one
   * can't start; the remaining old ones then keep serving. Calls during a restart share the next one: the configuration may have
   * changed since the restart read it.
   */
  restart(): Promise<void> {
    this.#nextRestart ??= this.#inTurn(() => {
      this.#nextRestart = undefined;
      return this.#replaceAll();
    });
    return this.#nextRestart;
  }

  /** Stops all workers after their open requests. Resolves when they have exited. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const all = [...this.#serving, ...this.#retiring];
    for (const worker of all) worker.stop();
    await Promise.all(all.map(({ exited }) => exited));
  }

  /** Kills all workers. */
  kill(): void {
    this.#stopping = true;
    for (const worker of [...this.#serving, ...this.#retiring]) worker.kill();
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#lastChange.then(change);
    this.#lastChange = done.catch(() => undefined);
    return done;
  }

  async #fork(): Promise<void> {
    const worker = await this.#options.fork(this.#place);
    this.takeIn(worker);
    // `stop` was called while this worker started.
    if (this.#stopping) worker.stop();
  }

  async #replaceAll(): Promise<void> {
    await this.#options.judge?.();
    const old = [...this.#serving];
    const count = await this.#options.wanted();
    this.#restarts += 1;
    for (let index = 0; index < count; index += 1) {
      if (this.#stopping) throw new Error('The service is stopping.');
      await this.#fork();
      const retired = old.shift();
      if (retired) this.#retire(retired);
    }
    for (const retired of old) this.#retire(retired);
  }

  #retire(worker: Worker): void {
    if (!this.#serving.includes(worker)) return;
    this.#serving = this.#serving.filter((other) => other !== worker);
    this.#retiring.add(worker);
    worker.retire();
    this.#options.changed(this.workers);
  }

  #exited(worker: Worker, how: string): void {
    if (this.#retiring.delete(worker) || this.#stopping) return;
    this.#serving = this.#serving.filter((other) => other !== worker);
    const waitMs = this.#backOffMs(Date.now() - worker.startedAtMs);
    this.#options.report(`worker ${worker.pid} exited (${how}); a replacement starts in ${waitMs} ms`);
    this.#options.changed(this.workers);
    this.#replaceIn(waitMs);
  }

  #replaceIn(waitMs: number): void {
    setTimeout(() => void this.#inTurn(() => this.#replaceExited()), waitMs);
  }

  async #replaceExited(): Promise<void> {
    // The configured number may have dropped, or a restart may have replaced the worker already.
    const wanted = await this.#options.wanted().catch(() => this.#serving.length + 1);
    if (this.#stopping || this.#serving.length >= wanted) return;
    try {
      await this.#fork();
    } catch (error) {
      const waitMs = this.#backOffMs(0);
      const why = messageOf(error);
      this.#options.report(`could not start a new worker; the next attempt is in ${waitMs} ms: ${why}`);
      this.#replaceIn(waitMs);
    }
  }
}

const firstMs = 100;
const longestMs = 10_000;
/** A worker that lived this long, in milliseconds, resets the delay. */
const healthyMs = 60_000;

/**
 * Exponential back-off: returns the delay in milliseconds before replacing a worker that lived for `livedMs`, which doubles from
 * 100 ms up to ten seconds while workers crash soon after their start.
 */
export const backOff = (): ((livedMs: number) => number) => {
  let waitMs = firstMs;
  return (livedMs) => {
    const now = livedMs >= healthyMs ? firstMs : waitMs;
    waitMs = Math.min(longestMs, now * 2);
    return now;
  };
};
