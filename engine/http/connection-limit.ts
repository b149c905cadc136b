/**
 * How many connections each client address has. uWebSockets.js tells who connects but not who leaves, so this is an upper bound:
 * a connection either has a request at work or was used a moment ago, since idle ones are cut natively after 8 to 12 seconds.
 * The bound is exact while a single address is connected, and never below the truth.
 */
export class ConnectionLimit {
  #open = 0;
  #recent = new Map<string, number>();
  #earlier = new Map<string, number>();
  #recentFromMs = 0;

  /** All connections that are open. */
  get open(): number {
    return this.#open;
  }

  /** A connection was opened by an address with so many requests at work. `false`: it has more than `max` connections now. */
  admit(address: string, active: number, max: number): boolean {
    this.#open += 1;
    this.used(address);
    if (this.#open <= max) return true;
    return active + (this.#recent.get(address) ?? 0) + (this.#earlier.get(address) ?? 0) <= max;
  }

  /** A request of this address has ended; its connection may stay for a while. */
  used(address: string): void {
    const nowMs = Date.now();
    if (nowMs - this.#recentFromMs > idleMs) {
      // What lies further back than two spans is gone by now.
      this.#earlier = nowMs - this.#recentFromMs > 2 * idleMs ? new Map() : this.#recent;
      this.#recent = new Map();
      this.#recentFromMs = nowMs;
    }
    this.#recent.set(address, (this.#recent.get(address) ?? 0) + 1);
  }

  /** A connection was closed. */
  closed(): void {
    this.#open -= 1;
  }
}

/** For so long at most a connection stays open without a request. */
const idleMs = 15_000;
