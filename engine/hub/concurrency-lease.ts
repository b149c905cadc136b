/** The part of a concurrency limit that all members together may hold in reserve. */
const spareShare = 0.04;

/** A member's part of a concurrency limit: the units in use, and a small reserve. */
export class ConcurrencyLease {
  max = 0;
  /** Requests that wait for the store's answer. */
  waiting = 0;
  #used = 0;
  #granted = 0;
  /** Units that no member held as of the last exchange. */
  #free: number | undefined;

  /** Takes a unit if this member holds an unused one. */
  take(): boolean {
    if (this.#used >= Math.min(this.#granted, this.max)) return false;
    this.#used += 1;
    return true;
  }

  /** Takes a unit of this member's share, without the store. */
  takeShare(members: number): boolean {
    if (this.#used >= Math.floor(this.max / Math.max(1, members))) return false;
    this.#used += 1;
    return true;
  }

  /** Takes a unit regardless of the limit. */
  takeOver(): void {
    this.#used += 1;
  }

  release(): void {
    this.#used -= 1;
  }

  /** Units to request. The reserve lets the next requests be decided at once; it is too small for others to lack it. */
  ask(members: number): number {
    const spare = this.#used === 0 ? 0 : Math.floor((this.max * spareShare) / Math.max(1, members));
    const want = this.#used + this.waiting + spare;
    // Units that are returned may be another member's before the answer arrives.
    this.#granted = Math.min(this.#granted, want);
    return want;
  }

  /** Takes the store's answer: the units that this member holds, and those that no member holds. */
  grant(granted: number, free: number): void {
    this.#granted = granted;
    this.#free = free;
  }

  /** The store doesn't answer, and may have granted this member's units to others. */
  lost(): void {
    this.#granted = 0;
  }

  /** Whether other members may wait for units that this one returns. */
  get isScarce(): boolean {
    return (this.#free ?? 0) < this.max / 4;
  }

  /** Whether it is neither used nor waited for. */
  get isIdle(): boolean {
    return this.#used === 0 && this.waiting === 0;
  }

  /** Units that no member uses; `undefined` before the store's first answer. */
  get unused(): number | undefined {
    return this.#free === undefined ? undefined : this.#free + Math.max(0, this.#granted - this.#used);
  }
}
