/** Why a claim gets no more memory: others use it, or it alone wants more than there is. */
type MemoryRefusal = 'exhausted' | 'too-large';

/** One sum of memory for what many requests hold at the same time: each one's own bound doesn't limit all of them together. */
export class MemoryBudget {
  /** Bytes held by all claims. */
  usedBytes = 0;

  /** A claim for one request. `maxBytes`: the limit for all claims together. */
  claim(maxBytes: number): MemoryClaim {
    return new MemoryClaim(this, maxBytes);
  }
}

/** One request's share of a budget. */
export class MemoryClaim {
  readonly #budget: MemoryBudget;
  readonly #maxBytes: number;
  #held = 0;
  #released = false;

  constructor(budget: MemoryBudget, maxBytes: number) {
    this.#budget = budget;
    this.#maxBytes = maxBytes;
  }

  /** The limit for all claims together. */
  get maxBytes(): number {
    return this.#maxBytes;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** Takes further bytes, or none if it is refused. A claim that is released gets none. */
  take(bytes: number): MemoryRefusal | undefined {
    if (this.#released || this.#held + bytes > this.#maxBytes) return 'too-large';
    if (this.#budget.usedBytes + bytes > this.#maxBytes) return 'exhausted';
    this.hold(this.#held + bytes);
    return undefined;
  }

  /** Holds this many bytes instead, which is always granted. */
  hold(bytes: number): void {
    if (this.#released) return;
    this.#budget.usedBytes += bytes - this.#held;
    this.#held = bytes;
  }

  /** Returns everything, for good. */
  release(): void {
    this.hold(0);
    this.#released = true;
  }
}
