import { isJsonObject, type Json } from '../model/json.ts';

/** More pairs than this aren't compared: a list so long was hardly commented by hand. */
const mostPairs = 1_000_000;

/**
 * Finds the members of a list in the one that takes its place: for each new member the index of the old one that it continues,
 * or none. The indices rise. Objects continue each other when they have the same `name` (or `path`), other values when they are
 * equal.
 */
export const alignLists = (old: readonly Json[], wanted: readonly Json[]): readonly (number | undefined)[] => {
  if (old.length * wanted.length > mostPairs) return wanted.map((_, index) => (index < old.length ? index : undefined));
  const oldKeys = old.map(keyOf);
  const wantedKeys = wanted.map(keyOf);
  const lengths = commonLengths(oldKeys, wantedKeys);
  const length = (at: number, index: number): number => lengths[at]?.[index] ?? 0;
  let at = 0;
  return wantedKeys.map((key, index) => {
    // An old member is passed over only where that costs nothing later.
    while (at < oldKeys.length && oldKeys[at] !== key && length(at + 1, index) === length(at, index)) at += 1;
    if (at >= oldKeys.length || oldKeys[at] !== key) return undefined;
    at += 1;
    return at - 1;
  });
};

const keyOf = (value: Json): string => {
  const name = isJsonObject(value) ? (value.name ?? value.path) : undefined;
  return typeof name === 'string' ? `name ${name}` : `value ${JSON.stringify(value)}`;
};

/** For each pair of positions, how many members the two rests have in common, in order. */
const commonLengths = (old: readonly string[], wanted: readonly string[]): readonly Uint32Array[] => {
  const rows = Array.from({ length: old.length + 1 }, () => new Uint32Array(wanted.length + 1));
  for (let at = old.length - 1; at >= 0; at -= 1) {
    const [row, below] = [rows[at], rows[at + 1]];
    if (!row || !below) continue;
    for (let index = wanted.length - 1; index >= 0; index -= 1) {
      row[index] =
        old[at] === wanted[index] ? (below[index + 1] ?? 0) + 1 : Math.max(below[index] ?? 0, row[index + 1] ?? 0);
    }
  }
  return rows;
};
