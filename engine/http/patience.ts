/** A connection on which the client is slow. */
export interface Waiting {
  /** Called every few seconds: keeps the connection open, or gives up on it. */
  readonly wait: (nowMs: number) => void;
}

/**
 * One clock for all slow clients of a listener; it only ticks while there are any. Needed because uWebSockets.js by itself
 * cuts a connection without a word when for about ten seconds it takes no data or sends less than 16 KiB each second.
 */
export class Patience {
  readonly #waiting = new Set<Waiting>();
  readonly #tickMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  /** The clock runs on to its next tick: most requests wait for nothing, and would start and stop it each time. */
  delete(waiting: Waiting): void {
    this.#waiting.delete(waiting);
  }

  #tick(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const nowMs = Date.now();
    for (const waiting of this.#waiting) waiting.wait(nowMs);
  }
}
