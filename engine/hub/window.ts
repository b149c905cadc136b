/** Slots per window, and those that are counted besides: one for the running slot, one for the life of a lease. */
const slots = 60;
const counted = slots + 2;

/** Length of a slot, in milliseconds: a lease may be used for that long after it was asked for. */
export const slotMs = (windowMs: number): number => windowMs / slots;

/**
 * Counts what a limit has admitted, in slots of a sixtieth of its window. What is counted in a slot is forgotten 62 slots after
 * the slot's begin: so that a block that is used within a slot's length counts for a whole window after its use.
 */
export class Window {
  readonly #slotMs: number;
  /** Ring of counts; `#newest` is the number of the newest slot. */
  readonly #counts = new Float64Array(counted);
  #newest = 0;

  constructor(windowMs: number) {
    this.#slotMs = slotMs(windowMs);
  }

  /** The slot of this time. */
  slotAt(nowMs: number): number {
    return Math.floor(nowMs / this.#slotMs);
  }

  /** Adds to the slot of this time, and returns the slot. */
  add(nowMs: number, count: number): number {
    this.#forget(nowMs);
    this.#counts[this.#newest % counted] = (this.#counts[this.#newest % counted] ?? 0) + count;
    return this.#newest;
  }

  /** Reduces a slot's count, if the slot is still counted. */
  giveBack(nowMs: number, slot: number, count: number): void {
    this.#forget(nowMs);
    if (slot > this.#newest || slot <= this.#newest - counted) return;
    this.#counts[slot % counted] = Math.max(0, (this.#counts[slot % counted] ?? 0) - count);
  }

  /** Corrects a slot's count. A slot that has expired needs no reduction; an increase counts as new. */
  correct(nowMs: number, slot: number, by: number): void {
    this.#forget(nowMs);
    if (by < 0) this.giveBack(nowMs, slot, -by);
    else if (slot > this.#newest - counted && slot <= this.#newest)
      this.#counts[slot % counted] = (this.#counts[slot % counted] ?? 0) + by;
    else if (by > 0) this.add(nowMs, by);
  }

  /** Milliseconds until at most `most` are counted, if nothing is added; 0: they are now. */
  waitMs(nowMs: number, most: number): number {
    let left = this.used(nowMs);
    if (left <= most) return 0;
    for (let age = counted - 1; age >= 0; age -= 1) {
      const slot = this.#newest - age;
      left -= slot >= 0 ? (this.#counts[slot % counted] ?? 0) : 0;
      if (left <= most) return (slot + counted) * this.#slotMs - nowMs;
    }
    return counted * this.#slotMs;
  }

  /** The present count. */
  used(nowMs: number): number {
    this.#forget(nowMs);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** The slots with a count: their age in slots, and the count. */
  ages(nowMs: number): [age: number, count: number][] {
    this.#forget(nowMs);
    return Array.from({ length: counted }, (_, age): [number, number] => [
      age,
      this.#counts[(((this.#newest - age) % counted) + counted) % counted] ?? 0,
    ]).filter(([, count]) => count > 0);
  }

  #forget(nowMs: number): void {
    const now = this.slotAt(nowMs);
    if (now <= this.#newest) return;
    const gone = Math.min(counted, now - this.#newest);
    for (let step = 1; step <= gone; step += 1) this.#counts[(this.#newest + step) % counted] = 0;
    this.#newest = now;
  }
}

/** The count of slots of these ages, `laterMs` later. */
export const stillCounted = (
  ages: readonly (readonly [age: number, count: number])[],
  laterMs: number,
  windowMs: number,
): number => {
  // Rounded down: a slot counts for rather too long.
  const passed = Math.floor(laterMs / slotMs(windowMs));
  return ages.reduce((sum, [age, count]) => (age + passed < counted ? sum + count : sum), 0);
};

/** Time until slots of these ages sum up to at most `most`, in milliseconds. */
export const countedUntilMs = (
  ages: readonly (readonly [age: number, count: number])[],
  most: number,
  windowMs: number,
): number => {
  let left = ages.reduce((sum, [, count]) => sum + count, 0);
  for (const [age, count] of ages.toSorted(([one], [other]) => other - one)) {
    if (left <= most) break;
    left -= count;
    if (left <= most) return (counted - age) * slotMs(windowMs);
  }
  return 0;
};
