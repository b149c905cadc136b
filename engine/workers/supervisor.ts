import { type BackOff, backOff } from './back-off.ts';
import type { Fleet } from './fleet.ts';
import type { Place } from './place.ts';
import type { Worker } from './worker.ts';

/** What a supervisor works with. */
export interface SupervisorOptions {
  /** Starts a worker beside those that listen at `taken`. Rejects with an error worded for users. */
  readonly fork: (taken: Place | undefined) => Promise<Worker>;
  /** How many workers the configuration asks for at this moment. Rejects with an error worded for users. */
  readonly wanted: () => Promise<number>;
  /** Takes lines for the service's owner. */
  readonly report: (line: string) => void;
  /** The processes that serve are others now. */
  readonly changed: (fleet: Fleet) => void;
  readonly startedAtMs: number;
}

/** Keeps a service's workers: as many as are wanted, new ones in the place of those that fell, all new ones on a restart. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #back: BackOff = backOff();
  /** Those that take new connections. */
  #serving: readonly Worker[] = [];
  /** Those that finish what they have begun. */
  readonly #leaving = new Set<Worker>();
  #place: Place | undefined;
  #restarts = 0;
  #restarting: Promise<void> | undefined;
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Where the service listens; known once a worker was taken in. */
  get place(): Place | undefined {
    return this.#place;
  }

  get fleet(): Fleet {
    return {
      pid: process.pid,
      startedAtMs: this.#options.startedAtMs,
      restarts: this.#restarts,
      workers: this.#serving.map(({ pid, startedAtMs }) => ({ pid, startedAtMs })),
    };
  }

  /** Starts as many workers as are wanted. Rejects when the first can't start. */
  async start(): Promise<void> {
    const count = await this.#options.wanted();
    for (let index = 0; index < count; index += 1) await this.#fork();
  }

  /** Counts a worker among those that serve. */
  takeIn(worker: Worker): void {
    this.#serving = [...this.#serving, worker];
    this.#place = worker.place;
    void worker.exited.then(({ how }) => this.#exited(worker, how));
    this.#options.changed(this.fleet);
  }

  /**
   * Puts new workers in the place of all that serve, one by one: an old one goes when a new one serves. Rejects with an error
   * worded for users when one can't start; what served until then goes on. A restart that is on its way is joined.
   */
  restart(): Promise<void> {
    this.#restarting ??= this.#replaceAll().finally(() => {
      this.#restarting = undefined;
    });
    return this.#restarting;
  }

  /** Ends all workers with what they have begun. Resolves when they are gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const all = [...this.#serving, ...this.#leaving];
    for (const worker of all) worker.stop();
    await Promise.all(all.map(({ exited }) => exited));
  }

  /** Ends all workers at once. */
  kill(): void {
    this.#stopping = true;
    for (const worker of [...this.#serving, ...this.#leaving]) worker.kill();
  }

  async #fork(): Promise<void> {
    const worker = await this.#options.fork(this.#place);
    this.takeIn(worker);
    // It came too late to be told with the others.
    if (this.#stopping) worker.stop();
  }

  async #replaceAll(): Promise<void> {
    const old = [...this.#serving];
    const count = await this.#options.wanted();
    this.#restarts += 1;
    for (let index = 0; index < count; index += 1) {
      if (this.#stopping) throw new Error('The service is stopping.');
      await this.#fork();
      const replaced = old.shift();
      if (replaced) this.#letGo(replaced);
    }
    for (const replaced of old) this.#letGo(replaced);
  }

  #letGo(worker: Worker): void {
    if (!this.#serving.includes(worker)) return;
    this.#serving = this.#serving.filter((other) => other !== worker);
    this.#leaving.add(worker);
    worker.retire();
    this.#options.changed(this.fleet);
  }

  #exited(worker: Worker, how: string): void {
    if (this.#leaving.delete(worker) || this.#stopping) return;
    this.#serving = this.#serving.filter((other) => other !== worker);
    const waitMs = this.#back.next(Date.now() - worker.startedAtMs);
    this.#options.report(`worker ${worker.pid} ended (${how}); a new one takes its place in ${waitMs} ms`);
    this.#options.changed(this.fleet);
    this.#replaceIn(waitMs);
  }

  #replaceIn(waitMs: number): void {
    setTimeout(() => void this.#replaceFallen(), waitMs);
  }

  async #replaceFallen(): Promise<void> {
    await this.#restarting?.catch(() => undefined);
    // Fewer may be wanted by now, and a restart may have brought them already.
    const wanted = await this.#options.wanted().catch(() => this.#serving.length + 1);
    if (this.#stopping || this.#serving.length >= wanted) return;
    try {
      await this.#fork();
    } catch (error) {
      const waitMs = this.#back.next(0);
      const why = error instanceof Error ? error.message : String(error);
      this.#options.report(`no new worker could be started, the next attempt is in ${waitMs} ms: ${why}`);
      this.#replaceIn(waitMs);
    }
  }
}
