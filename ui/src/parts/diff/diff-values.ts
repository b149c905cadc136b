import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';

/** One line of a JSON diff. */
interface DiffRow {
  readonly kind: 'same' | 'added' | 'removed' | 'left-out';
  /** Nesting depth. */
  readonly depth: number;
  readonly text: string;
}

/** Characters shown around a change in a long text. */
const aroundChars = 60;
/** Longer lists are compared by index: finding moved elements would take too long. */
const mostCells = 250_000;

/**
 * The diff of two JSON values, in their own order. Equal parts are left out, except for the path to a difference; empty if
 * both are equal.
 */
export const diffValues = (before: Json, after: Json): readonly DiffRow[] => {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const rows: DiffRow[] = [];
  compare(undefined, before, after, 0, rows);
  return rows;
};

const compare = (name: string | undefined, before: Json, after: Json, depth: number, rows: DiffRow[]): void => {
  if (isJsonObject(before) && isJsonObject(after)) {
    rows.push({ kind: 'same', depth, text: `${label(name)}{` });
    compareMembers(before, after, depth + 1, rows);
    rows.push({ kind: 'same', depth, text: '}' });
  } else if (isList(before) && isList(after)) {
    rows.push({ kind: 'same', depth, text: `${label(name)}[` });
    compareItems(before, after, depth + 1, rows);
    rows.push({ kind: 'same', depth, text: ']' });
  } else {
    const [from, to] = aroundChange(before, after);
    put('removed', name, from, depth, rows);
    put('added', name, to, depth, rows);
  }
};

const compareMembers = (before: JsonObject, after: JsonObject, depth: number, rows: DiffRow[]): void => {
  let same = 0;
  const endSame = (): void => {
    if (same > 0)
      rows.push({ kind: 'left-out', depth, text: same === 1 ? '1 unchanged field' : `${same} unchanged fields` });
    same = 0;
  };
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    // Inherited properties aren't fields.
    const from = Object.hasOwn(before, name) ? before[name] : undefined;
    const to = Object.hasOwn(after, name) ? after[name] : undefined;
    if (JSON.stringify(from) === JSON.stringify(to)) {
      same += 1;
      continue;
    }
    endSame();
    if (from === undefined) put('added', name, to ?? null, depth, rows);
    else if (to === undefined) put('removed', name, from, depth, rows);
    else compare(name, from, to, depth, rows);
  }
  endSame();
};

const compareItems = (before: readonly Json[], after: readonly Json[], depth: number, rows: DiffRow[]): void => {
  let from = 0;
  let to = 0;
  for (const [start, end, length] of [...runs(before, after), [before.length, after.length, 0] as const]) {
    // Between two equal runs, elements at the same index count as changed.
    for (; from < start || to < end; from += 1, to += 1) {
      const old = from < start ? before[from] : undefined;
      const fresh = to < end ? after[to] : undefined;
      if (old !== undefined && fresh !== undefined) compare(undefined, old, fresh, depth, rows);
      else if (old !== undefined) put('removed', undefined, old, depth, rows);
      else if (fresh !== undefined) put('added', undefined, fresh, depth, rows);
    }
    if (length > 0)
      rows.push({
        kind: 'left-out',
        depth,
        text: length === 1 ? '1 unchanged element' : `${length} unchanged elements`,
      });
    from = start + length;
    to = end + length;
  }
};

/** Runs of equal elements, as `[start before, start after, length]`: the longest common subsequence. */
const runs = (before: readonly Json[], after: readonly Json[]): readonly (readonly [number, number, number])[] => {
  const from = before.map((item) => JSON.stringify(item));
  const to = after.map((item) => JSON.stringify(item));
  const isSmall = from.length * to.length <= mostCells;
  const pairs = isSmall
    ? commonPairs(from, to)
    : from.flatMap((item, at) => (item === to[at] ? [[at, at] as const] : []));
  const found: [number, number, number][] = [];
  for (const [start, end] of pairs) {
    const last = found.at(-1);
    if (last && last[0] + last[2] === start && last[1] + last[2] === end) last[2] += 1;
    else found.push([start, end, 1]);
  }
  return found;
};

const commonPairs = (from: readonly string[], to: readonly string[]): readonly (readonly [number, number])[] => {
  const width = to.length + 1;
  // Length of the longest common subsequence from here on.
  const best = new Uint32Array((from.length + 1) * width);
  for (let i = from.length - 1; i >= 0; i -= 1) {
    for (let j = to.length - 1; j >= 0; j -= 1) {
      const skipped = Math.max(best[(i + 1) * width + j] ?? 0, best[i * width + j + 1] ?? 0);
      best[i * width + j] = from[i] === to[j] ? (best[(i + 1) * width + j + 1] ?? 0) + 1 : skipped;
    }
  }
  const pairs: [number, number][] = [];
  let i = 0;
  let j = 0;
  while (i < from.length && j < to.length) {
    if (from[i] === to[j]) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if ((best[(i + 1) * width + j] ?? 0) >= (best[i * width + j + 1] ?? 0)) i += 1;
    else j += 1;
  }
  return pairs;
};

const put = (
  kind: 'added' | 'removed',
  name: string | undefined,
  value: Json,
  depth: number,
  rows: DiffRow[],
): void => {
  const [first = '', ...rest] = JSON.stringify(value, null, 2).split('\n');
  rows.push({ kind, depth, text: label(name) + first });
  for (const line of rest)
    rows.push({ kind, depth: depth + (/^ */.exec(line)?.[0].length ?? 0) / 2, text: line.trimStart() });
};

/** Shortens two long texts to the part around their difference. */
const aroundChange = (before: Json, after: Json): readonly [Json, Json] => {
  if (typeof before !== 'string' || typeof after !== 'string') return [before, after];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const cut = (text: string): string => {
    const from = Math.max(0, start - aroundChars);
    const to = Math.min(text.length, text.length - end + aroundChars);
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
  };
  return [cut(before), cut(after)];
};

const label = (name: string | undefined): string => (name === undefined ? '' : `${JSON.stringify(name)}: `);

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
