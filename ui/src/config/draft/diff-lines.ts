/** A line of a diff. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** The most differing lines, on both sides together, that are searched; beyond that, all are replaced. */
const mostSearched = 1_200;

/** The shortest diff of two texts, line by line. */
export const diffLines = (before: string, after: string): readonly DiffLine[] => {
  const [from, to] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head += 1;
  let tail = 0;
  while (tail < from.length - head && tail < to.length - head && from.at(-1 - tail) === to.at(-1 - tail)) tail += 1;
  const same = (lines: readonly string[]): readonly DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(from.slice(0, head)),
    ...middle(from.slice(head, from.length - tail), to.slice(head, to.length - tail)),
    ...same(from.slice(from.length - tail)),
  ];
};

const middle = (from: readonly string[], to: readonly string[]): readonly DiffLine[] => {
  if (from.length === 0 || to.length === 0 || from.length + to.length > mostSearched) {
    return [...marked('removed', from), ...marked('added', to)];
  }
  return walkBack(from, to, furthest(from, to));
};

const marked = (kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] =>
  lines.map((text) => ({ kind, text }));

/** For each number of edits, how far each diagonal reaches. Source: E. Myers, "An O(ND) Difference Algorithm", 1986. */
const furthest = (from: readonly string[], to: readonly string[]): readonly ReadonlyMap<number, number>[] => {
  const reached: Map<number, number>[] = [];
  let last = new Map<number, number>([[1, 0]]);
  for (let edits = 0; ; edits += 1) {
    const own = new Map<number, number>();
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = isDown(last, diagonal, edits) ? at(last, diagonal + 1) : at(last, diagonal - 1) + 1;
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x += 1;
      own.set(diagonal, x);
      if (x >= from.length && x - diagonal >= to.length) return [...reached, own];
    }
    reached.push(own);
    last = own;
  }
};

const at = (row: ReadonlyMap<number, number>, diagonal: number): number => row.get(diagonal) ?? -1;

const isDown = (last: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean =>
  diagonal === -edits || (diagonal !== edits && at(last, diagonal - 1) < at(last, diagonal + 1));

const walkBack = (
  from: readonly string[],
  to: readonly string[],
  reached: readonly ReadonlyMap<number, number>[],
): readonly DiffLine[] => {
  const lines: DiffLine[] = [];
  let [x, y] = [from.length, to.length];
  const keep = (until: number): void => {
    for (; x > until; x -= 1, y -= 1) lines.push({ kind: 'same', text: from[x - 1] ?? '' });
  };
  for (let edits = reached.length - 1; edits > 0; edits -= 1) {
    const last = reached[edits - 1] ?? new Map<number, number>();
    const diagonal = x - y;
    const down = isDown(last, diagonal, edits);
    const before = at(last, down ? diagonal + 1 : diagonal - 1);
    keep(down ? before : before + 1);
    if (down) y -= 1;
    else x -= 1;
    lines.push(down ? { kind: 'added', text: to[y] ?? '' } : { kind: 'removed', text: from[x] ?? '' });
  }
  keep(0);
  return lines.reverse();
};
