import { isJsonObject, type Json } from '../../model/json/json.ts';

/** Lists with more pairs aren't compared: such long lists are hardly commented by hand. */
const maxPairs = 1_000_000;

/**
 * Matches the items of a new list with those of the old one: for each new item the index of its old item, or `undefined`. The
 * indices increase. Objects match by `name` (or `path`), other values by equality.
 */
export const matchItems = (old: readonly Json[], wanted: readonly Json[]): readonly (number | undefined)[] => {
  if (old.length * wanted.length > maxPairs) return wanted.map((_, index) => (index < old.length ? index : undefined));
  const oldKeys = old.map(keyOf);
  const wantedKeys = wanted.map(keyOf);
  const lengths = commonLengths(oldKeys, wantedKeys);
  const length = (at: number, index: number): number => lengths[at]?.[index] ?? 0;
  let at = 0;
  return wantedKeys.map((key, index) => {
    // Skips an old item only if that doesn't shorten the common subsequence.
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

/** Lengths of the longest common subsequences of the lists from each pair of positions on. */
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
