import { performance } from 'node:perf_hooks';

/** Called on every tick of a `Ticker`. */
export interface TickListener {
  /** `nowMs` is of `performance.now()`. */
  readonly tick: (nowMs: number) => void;
}

/** One timer for all requests that wait. It only runs while there are listeners; a timer per request would cost more. */
export class Ticker {
  readonly #listeners = new Set<TickListener>();
  readonly #tickMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  add(listener: TickListener): void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  /** The timer runs on until the next tick: listeners come and go faster than it ticks. */
  delete(listener: TickListener): void {
    this.#listeners.delete(listener);
  }

  #tick(): void {
    if (this.#listeners.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const nowMs = performance.now();
    for (const listener of this.#listeners) listener.tick(nowMs);
  }
}
