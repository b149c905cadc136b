import { fail } from '../../model/fault.ts';
import { addSums, floorToHour, hourStartMs, monthOf, otherName } from './hours.ts';
import { readHours } from './read-hours.ts';
import {
  noUsage,
  UsageGroup,
  type UsageQuery,
  type UsageReport,
  type UsageRow,
  UsageStep,
  type UsageSums,
} from './schema.ts';

/** The parameters of a report, as texts. */
type UsageParams = Readonly<Partial<Record<'from' | 'to' | 'by' | 'step', string | undefined>>>;

const dayMs = 86_400_000;

/** Days that a report by hours may have. */
const maxHourlyDays = 31;

/** Rows of a report that have a name of their own: beyond it, they are summed up under `otherName`. */
const maxRows = 20_000;

const groups = UsageGroup.enum;
const steps = UsageStep.enum;

/** Reads the parameters of a report. Throws an `invalid-request` fault that names one, under its name in `names`. */
export const readUsageQuery = (
  { from = '30d', to, by = 'model', step = 'none' }: UsageParams,
  nowMs: number,
  names: Readonly<Partial<Record<keyof UsageParams, string>>> = {},
): UsageQuery => {
  const refuse = (param: keyof UsageParams, message: string): never =>
    fail('invalid-request', `${names[param] ?? param} ${message}`, { param });
  const timeOf = (param: 'from' | 'to', text: string): number =>
    readTime(text, nowMs) ??
    refuse(param, 'must be a time as 2026-01-31 or 2026-01-31T08:00Z, or how long ago, as 36h or 7d.');
  const toMs = to === undefined ? nowMs : timeOf('to', to);
  const fromMs = floorToHour(timeOf('from', from));
  if (fromMs >= toMs) refuse('from', `must be before ${names.to ?? 'to'}.`);
  const group = groups.find((known) => known === by) ?? refuse('by', `must be one of ${groups.join(', ')}.`);
  const width = steps.find((known) => known === step) ?? refuse('step', `must be one of ${steps.join(', ')}.`);
  if (width === 'hour' && toMs - fromMs > (maxHourlyDays + 1) * dayMs)
    refuse('step', `must be day, month or none beyond ${maxHourlyDays} days.`);
  return { fromMs, toMs, by: group, step: width };
};

const agoPattern = /^(\d{1,5})([hd])$/;
const timePattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/;

/** Reads a time or how long ago it was, in milliseconds since 1970. `undefined`: the text is neither. */
export const readTime = (text: string, nowMs: number): number | undefined => {
  const [, amount, unit] = agoPattern.exec(text) ?? [];
  if (amount !== undefined) return Math.max(0, nowMs - Number(amount) * (unit === 'h' ? 3_600_000 : dayMs));
  const atMs = timePattern.test(text) ? Date.parse(text) : Number.NaN;
  return atMs >= 0 ? atMs : undefined;
};

/** Sums up what the folder has, and reports of other machines for the same query. */
export const usageReport = async (
  folder: string,
  query: UsageQuery,
  others: readonly UsageReport[] = [],
): Promise<UsageReport> => {
  const { fromMs, toMs, by, step } = query;
  const total = { ...noUsage };
  const cells = new Map<string, { readonly from: string | null; readonly name: string; readonly sums: typeof total }>();
  const add = (from: string | null, own: string, sums: UsageSums): void => {
    addSums(total, sums);
    const name = cells.size < maxRows || cells.has(`${from} ${own}`) ? own : otherName;
    const key = `${from} ${name}`;
    const cell = cells.get(key) ?? { from, name, sums: { ...noUsage } };
    cells.set(key, cell);
    addSums(cell.sums, sums);
  };
  await readHours(folder, query, (hour, row) => add(stepOf(step, hour), nameOf(by, row), row));
  for (const row of others.flatMap(({ rows }) => rows)) add(row.from, row.name ?? '', row);
  const rows = [...cells.values()].toSorted(inOrder);
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    by,
    step,
    total,
    rows: rows.map(({ from, name, sums }) => ({ from, name: name === '' ? null : name, ...sums })),
  };
};

interface Cell {
  readonly from: string | null;
  readonly name: string;
  readonly sums: UsageSums;
}

const inOrder = (one: Cell, other: Cell): number =>
  compare(one.from ?? '', other.from ?? '') ||
  other.sums.cost - one.sums.cost ||
  other.sums.requests - one.sums.requests ||
  compare(one.name, other.name);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const startOf = (day: string): string => `${day}T00:00:00.000Z`;

const stepOf = (step: UsageStep, hour: string): string | null => {
  switch (step) {
    case 'hour':
      return new Date(hourStartMs(hour)).toISOString();
    case 'day':
      return startOf(hour.slice(0, 'yyyy-mm-dd'.length));
    case 'month':
      return startOf(`${monthOf(hour)}-01`);
    case 'none':
      return null;
    default:
      return step satisfies never;
  }
};

const nameOf = (by: UsageGroup, row: UsageRow): string =>
  by === 'model' ? [row.provider, row.model].filter((part) => part !== '').join(',') : row[by];

const columns = [
  'requests',
  'errors',
  'retries',
  'input',
  'cacheRead',
  'cacheWrite',
  'output',
  'reasoning',
  'unpriced',
  'uncompared',
  'uncounted',
] as const satisfies readonly Exclude<keyof UsageSums, 'cost' | 'saved'>[];

/** A report's rows as CSV, with costs in USD. */
export const usageCsv = ({ by, rows }: UsageReport): string => {
  const lines = rows.map(({ from, name, cost, saved, ...sums }) => [
    from ?? '',
    name ?? '',
    ...columns.map((column) => String(sums[column])),
    (cost / 1e9).toFixed(9),
    (saved / 1e9).toFixed(9),
  ]);
  return [['from', by, ...columns, 'costUsd', 'savedUsd'], ...lines]
    .map((cells) => `${cells.map(csvCell).join(',')}\r\n`)
    .join('');
};

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
const csvCell = (text: string): string => {
  const harmless = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};
