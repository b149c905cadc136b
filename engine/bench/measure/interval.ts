/** An estimate with the interval in which it lies, for all that these rounds tell. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const draws = 2_000;

/** Share of the draws that lies outside of the interval, at each end. */
const tail = 0.025;

/**
 * Estimates what `of` gives of two lists of rounds, with its 95 % interval: the same of many lists drawn from these rounds with repetition
 * (bootstrap). Always the same for the same rounds. `undefined` without rounds.
 */
export const estimateOf = (
  one: readonly number[],
  other: readonly number[],
  of: (one: readonly number[], other: readonly number[]) => number,
): Estimate | undefined => {
  if (one.length === 0 || other.length === 0) return undefined;
  const random = seeded();
  const drawn = (list: readonly number[]): readonly number[] =>
    list.map(() => list[Math.floor(random() * list.length)] ?? 0);
  const found = Float64Array.from({ length: draws }, () => of(drawn(one), drawn(other))).sort();
  const value = of(one, other);
  return {
    value,
    low: Math.min(value, found[Math.floor(draws * tail)] ?? value),
    high: Math.max(value, found[Math.ceil(draws * (1 - tail)) - 1] ?? value),
  };
};

/** Numbers from 0 to 1 (mulberry32). */
const seeded = (): (() => number) => {
  let state = 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};
