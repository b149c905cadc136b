/**
 * Limits the connections per client address. uWebSockets.js doesn't report the address of a closed connection, so the count
 * is an upper bound: active requests plus connections used recently (idle ones are closed natively after 8 to 12 seconds).
 * Exact while only one address is connected; never too low.
 */
export class ConnectionLimit {
  #open = 0;
  #recent = new Map<string, number>();
  #earlier = new Map<string, number>();
  #recentFromMs = 0;

  /** Open connections of all addresses. */
  get open(): number {
    return this.#open;
  }

  /** Records a new connection. `active`: the address's active requests. `false`: the address has more than `max` connections. */
  admit(address: string, active: number, max: number): boolean {
    this.#open += 1;
    this.used(address);
    if (this.#open <= max) return true;
    return active + (this.#recent.get(address) ?? 0) + (this.#earlier.get(address) ?? 0) <= max;
  }

  /** Records the end of a request; its connection may stay open for a while. */
  used(address: string): void {
    const nowMs = Date.now();
    if (nowMs - this.#recentFromMs > idleMs) {
      // After two spans all earlier connections have timed out.
      this.#earlier = nowMs - this.#recentFromMs > 2 * idleMs ? new Map() : this.#recent;
      this.#recent = new Map();
      this.#recentFromMs = nowMs;
    }
    this.#recent.set(address, (this.#recent.get(address) ?? 0) + 1);
  }

  /** Records a closed connection. */
  closed(): void {
    this.#open -= 1;
  }
}

/** The longest time an idle connection stays open, in milliseconds. */
const idleMs = 15_000;
