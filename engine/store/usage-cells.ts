import type { Database } from './sqlite.ts';
import {
  addSums,
  addTimes,
  noTimes,
  noUsage,
  otherName,
  type Series,
  type Sums,
  seriesIn,
  sumsIn,
  type Times,
  timesIn,
  type UsageUnit,
  unitMs,
} from './usage.ts';

type SumsGroup = 'model' | 'provider' | 'client' | 'scenario' | 'protocol' | 'all';

/** What sums are asked for: from units of one length that begin in a span, in milliseconds since 1970. */
export interface SumsQuery {
  readonly fromMs: number;
  readonly toMs: number;
  readonly by: SumsGroup;
  /** What each name is split by further. */
  readonly part?: SumsGroup;
  readonly step: UsageUnit | 'day' | 'month' | 'none';
  readonly unit: UsageUnit;
  /** Minutes by which days and months begin before those of UTC. */
  readonly offset?: number;
}

/** Sums of requests of one name, or of a part of it, in one interval; an empty name is none. */
export interface SumsCell {
  readonly from: string | null;
  readonly name: string;
  readonly part?: string;
  readonly sums: Sums;
  readonly times: Times;
}

/** Rows of a report that have a name of their own: beyond it, they are summed up under `otherName`. */
const maxRows = 20_000;

const keyOf = (from: string | null, { name, part }: Pick<SumsCell, 'name' | 'part'>): string =>
  JSON.stringify([from, name, part]);

/** Sums of requests by step and names, at most so many. */
export class SumsCells {
  readonly #cells = new Map<string, SumsCell>();

  add({ from, sums, times, ...own }: SumsCell): void {
    const other = { name: otherName, ...(own.part !== undefined && { part: otherName }) };
    const names = this.#cells.size < maxRows || this.#cells.has(keyOf(from, own)) ? own : other;
    const key = keyOf(from, names);
    const cell = this.#cells.get(key) ?? { from, ...names, sums: { ...noUsage }, times: noTimes() };
    this.#cells.set(key, cell);
    addSums(cell.sums, sums);
    addTimes(cell.times, times);
  }

  get all(): readonly SumsCell[] {
    return [...this.#cells.values()];
  }
}

/** Sums up what a database has. */
export const usageIn = (db: Database, query: SumsQuery): readonly SumsCell[] => {
  const width = unitMs[query.unit];
  const floor = (atMs: number): number => Math.floor(atMs / width) * width;
  const { by, part } = query;
  const names = new Map<unknown, Pick<SumsCell, 'name' | 'part'>>();
  for (const { id, names: all } of db.prepare('SELECT id, names FROM series').all()) {
    const series = seriesIn(all);
    names.set(id, { name: nameOf(by, series), ...(part && { part: nameOf(part, series) }) });
  }
  const rows = db
    .prepare('SELECT * FROM usage WHERE unit = ? AND at BETWEEN ? AND ?')
    .all(width, floor(query.fromMs), floor(query.toMs - 1));
  const cells = new SumsCells();
  for (const row of rows) {
    const own = names.get(row.series) ?? { name: '' };
    cells.add({ from: stepOf(query, Number(row.at)), ...own, sums: sumsIn(row), times: timesIn(row.times) });
  }
  return cells.all;
};

const nameOf = (by: SumsQuery['by'], series: Series): string => {
  if (by === 'all') return '';
  return by === 'model' ? [series.provider, series.model].filter((part) => part !== '').join(',') : series[by];
};

/** The start of a time's day or month (its date up to `length`) by a clock that is so many minutes ahead of UTC. */
const startOf = (atMs: number, length: number, offset = 0): string => {
  const aheadMs = offset * 60_000;
  const local = new Date(atMs + aheadMs).toISOString().slice(0, length);
  // A date without a time, also one of a month, is read as UTC.
  return new Date(Date.parse(local) - aheadMs).toISOString();
};

const stepOf = ({ step, offset }: Pick<SumsQuery, 'step' | 'offset'>, atMs: number): string | null => {
  switch (step) {
    case '5s':
    case 'minute':
    case 'hour':
      return new Date(atMs).toISOString();
    case 'day':
      return startOf(atMs, 'yyyy-mm-dd'.length, offset);
    case 'month':
      return startOf(atMs, 'yyyy-mm'.length, offset);
    case 'none':
      return null;
    default:
      return step satisfies never;
  }
};
