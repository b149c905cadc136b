import { performance } from 'node:perf_hooks';

/** Who wants to know from time to time how late it is. */
export interface Listening {
  /** `nowMs` is of `performance.now()`. */
  readonly look: (nowMs: number) => void;
}

/** One clock for all requests in flight, where a timer of each one's own would be set and cleared for nothing. */
export class SilenceClock {
  readonly #listening = new Set<Listening>();
  readonly #tickMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  add(listening: Listening): void {
    this.#listening.add(listening);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  /** The clock runs on to its next tick: requests come and go faster than it ticks. */
  delete(listening: Listening): void {
    this.#listening.delete(listening);
  }

  #tick(): void {
    if (this.#listening.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const nowMs = performance.now();
    for (const listening of this.#listening) listening.look(nowMs);
  }
}
