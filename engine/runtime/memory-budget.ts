/** Why a reservation gets no more memory: others use it, or it alone wants more than there is. */
type MemoryRefusal = 'exhausted' | 'too-large';

/** One sum of memory for what many requests hold at the same time: each one's own bound doesn't limit all of them together. */
export class MemoryBudget {
  /** Bytes in all reservations. */
  usedBytes = 0;

  /** The reservation of one request. `maxBytes`: the limit for all reservations together. */
  reserve(maxBytes: number): MemoryReservation {
    return new MemoryReservation(this, maxBytes);
  }
}

/** One request's share of a budget. */
export class MemoryReservation {
  readonly #budget: MemoryBudget;
  readonly #maxBytes: number;
  #bytes = 0;
  #released = false;

  constructor(budget: MemoryBudget, maxBytes: number) {
    this.#budget = budget;
    this.#maxBytes = maxBytes;
  }

  /** The limit for all reservations together. */
  get maxBytes(): number {
    return this.#maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes further bytes, or none if it is refused. A released reservation gets none. */
  take(bytes: number): MemoryRefusal | undefined {
    if (this.#released || this.#bytes + bytes > this.#maxBytes) return 'too-large';
    if (this.#budget.usedBytes + bytes > this.#maxBytes) return 'exhausted';
    this.set(this.#bytes + bytes);
    return undefined;
  }

  /** Sets it to this many bytes, which is always granted. */
  set(bytes: number): void {
    if (this.#released) return;
    this.#budget.usedBytes += bytes - this.#bytes;
    this.#bytes = bytes;
  }

  /** Returns everything, for good. */
  release(): void {
    this.set(0);
    this.#released = true;
  }
}
