/** The part of a limit at a time that all members together may keep at hand without using it. */
const spareShare = 0.04;

/** A member's part of a limit of so many at a time: what it uses, and a little more where there is plenty. */
export class HoldLease {
  max = 0;
  /** Those that wait for the store's answer. */
  waiting = 0;
  #used = 0;
  #held = 0;
  /** What no member held at the last word. */
  #unheld: number | undefined;

  /** Takes one if this member holds more than it uses. */
  take(): boolean {
    if (this.#used >= Math.min(this.#held, this.max)) return false;
    this.#used += 1;
    return true;
  }

  /** Takes one without the store, by this member's share. */
  takeShare(members: number): boolean {
    if (this.#used >= Math.floor(this.max / Math.max(1, members))) return false;
    this.#used += 1;
    return true;
  }

  /** Takes one whatever the limit is. */
  takeOver(): void {
    this.#used += 1;
  }

  release(): void {
    this.#used -= 1;
  }

  /** How many to ask for. What is kept at hand makes the next ones known at once; it is too little for others to miss it. */
  ask(members: number): number {
    const spare = this.#used === 0 ? 0 : Math.floor((this.max * spareShare) / Math.max(1, members));
    const want = this.#used + this.waiting + spare;
    // What is given back may be another member's before the answer comes.
    this.#held = Math.min(this.#held, want);
    return want;
  }

  /** The store's answer: how many this member holds, and how many none does. */
  grant(held: number, unheld: number): void {
    this.#held = held;
    this.#unheld = unheld;
  }

  /** The store doesn't answer, and may have given away what this member held. */
  lost(): void {
    this.#held = 0;
  }

  /** Whether other members may wait for what this one gives back. */
  get isScarce(): boolean {
    return (this.#unheld ?? 0) < this.max / 4;
  }

  /** Whether it is neither used nor waited for. */
  get isIdle(): boolean {
    return this.#used === 0 && this.waiting === 0;
  }

  /** How many no member uses; `undefined` if the store hasn't said. */
  get unused(): number | undefined {
    return this.#unheld === undefined ? undefined : this.#unheld + Math.max(0, this.#held - this.#used);
  }
}
