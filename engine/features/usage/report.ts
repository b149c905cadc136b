import { fail } from '../../model/fault.ts';
import {
  addSums,
  addTimes,
  noTimes,
  noUsage,
  type Times,
  type UsageUnit,
  unitKeptMs,
  unitMs,
  usageScale,
} from '../../store/usage.ts';
import { type SumsCell, SumsCells, type SumsQuery } from '../../store/usage-cells.ts';
import { readTime } from '../record/read-time.ts';
import { type UsageFigures, UsageGroup, UsageInterval, type UsageReport, type UsageSums } from './schema.ts';

/** The parameters of a report, as texts. */
type UsageParams = Readonly<Partial<Record<'from' | 'to' | 'by' | 'step' | 'offset', string | undefined>>>;

const dayMs = 86_400_000;

/** Days that a report by hours may have. */
const maxHourlyDays = 31;

/** The longest recent time, in milliseconds, whose sums begin and end with a minute; those of others, with an hour. */
const exactMs = 6 * 3_600_000;

const groups = UsageGroup.enum;
const steps = UsageInterval.enum;

/** Reads the parameters of a report. Throws an `invalid-request` fault that names one, under its name in `names`. */
export const readUsageQuery = (
  { from = '30d', to, by = 'model', step = 'none', offset = '0' }: UsageParams,
  nowMs: number,
  names: Readonly<Partial<Record<keyof UsageParams, string>>> = {},
): SumsQuery => {
  const refuse = (param: keyof UsageParams, message: string): never =>
    fail('invalid-request', `${names[param] ?? param} ${message}`, { param });
  const timeOf = (param: 'from' | 'to', text: string): number =>
    readTime(text, nowMs) ??
    refuse(param, 'must be a time as 2026-01-31 or 2026-01-31T08:00Z, or how long ago, as 15m, 36h or 7d.');
  const toMs = to === undefined ? nowMs : timeOf('to', to);
  const [group, part, ...further] = by.split(',').map((name) => groups.find((known) => known === name));
  if (!group || (by.includes(',') && !part) || further.length > 0)
    return refuse('by', `must be one of ${groups.join(', ')}, or two, as client,model.`);
  const width = steps.find((known) => known === step) ?? refuse('step', `must be one of ${steps.join(', ')}.`);
  const beginMs = timeOf('from', from);
  const unit = unitOf(width, beginMs, toMs, nowMs);
  const fromMs = Math.floor(beginMs / unitMs[unit]) * unitMs[unit];
  if (fromMs >= toMs) refuse('from', `must be before ${names.to ?? 'to'}.`);
  if (width === '5s' && Math.max(toMs, nowMs) - beginMs > unitKeptMs['5s'])
    refuse('step', 'must be minute, hour, day, month or none beyond the last hour.');
  if (width === 'minute' && Math.max(toMs, nowMs) - beginMs > unitKeptMs.minute)
    refuse('step', 'must be hour, day, month or none beyond the last 2 days.');
  if (width === 'hour' && toMs - fromMs > (maxHourlyDays + 1) * dayMs)
    refuse('step', `must be day, month or none beyond ${maxHourlyDays} days.`);
  if (!offsetPattern.test(offset) || Math.abs(Number(offset)) > maxOffset)
    refuse('offset', `must be whole minutes from -${maxOffset} to ${maxOffset}.`);
  return {
    ...{ fromMs, toMs, by: group, step: width, unit },
    ...(part && { part }),
    ...(Number(offset) !== 0 && { offset: Number(offset) }),
  };
};

const unitOf = (step: UsageInterval, fromMs: number, toMs: number, nowMs: number): UsageUnit => {
  if (step === '5s') return step;
  const isExact = step === 'none' && toMs - fromMs <= exactMs && nowMs - fromMs <= unitKeptMs.minute;
  return step === 'minute' || isExact ? 'minute' : 'hour';
};

const offsetPattern = /^-?\d{1,3}$/;

/** The most that a clock may be away from UTC, in minutes. */
const maxOffset = 840;

/** Reports sums, of this machine and of others. */
export const usageReport = (query: SumsQuery, ...of: readonly (readonly SumsCell[])[]): UsageReport => {
  const { fromMs, toMs, by, part, step } = query;
  const total = { sums: { ...noUsage }, times: noTimes() };
  const cells = new SumsCells();
  for (const cell of of.flat()) {
    addSums(total.sums, cell.sums);
    addTimes(total.times, cell.times);
    cells.add(cell);
  }
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    by,
    ...(part && { part }),
    step,
    total: figuresOf(total),
    rows: cells.all.toSorted(inOrder).map((cell) => ({
      from: cell.from,
      name: cell.name || null,
      ...(cell.part !== undefined && { part: cell.part || null }),
      ...figuresOf(cell),
    })),
  };
};

const figuresOf = ({ sums, times }: Pick<SumsCell, 'sums' | 'times'>): UsageFigures => {
  const [firstByteMs, durationMs, overheadMs] = [times.firstByte, times.duration, times.overhead].map(percentilesOf);
  return {
    ...sums,
    ...(firstByteMs && { firstByteMs }),
    ...(durationMs && { durationMs }),
    ...(overheadMs && { overheadMs }),
  };
};

const percentilesOf = (counts: Times[keyof Times]): UsageFigures['durationMs'] => {
  const byClass = Object.entries(counts)
    .map(([timeClass, count]): [number, number] => [Number(timeClass), count])
    .toSorted(([one], [other]) => one - other);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((fraction) => usageScale.percentile(byClass, fraction));
  return p50 === undefined || p95 === undefined || p99 === undefined ? undefined : { p50, p95, p99 };
};

const inOrder = (one: SumsCell, other: SumsCell): number =>
  compare(one.from ?? '', other.from ?? '') ||
  other.sums.cost - one.sums.cost ||
  other.sums.requests - one.sums.requests ||
  compare(one.name, other.name) ||
  compare(one.part ?? '', other.part ?? '');

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const columns = [
  'requests',
  'errors',
  'retries',
  'losses',
  'input',
  'cacheRead',
  'cacheWrite',
  'output',
  'reasoning',
  'unpriced',
  'uncompared',
  'uncounted',
] as const satisfies readonly Exclude<keyof UsageSums, 'cost' | 'saved'>[];

const times = ['firstByteMs', 'durationMs', 'overheadMs'] as const satisfies readonly (keyof UsageFigures)[];
const fractions = ['p50', 'p95', 'p99'] as const;
const timeColumns = times.flatMap((time) => fractions.map((fraction) => ({ time, fraction })));

/** A report's rows as CSV, with costs in USD. */
export const usageCsv = ({ by, part, rows }: UsageReport): string => {
  const lines = rows.map(({ from, name, part: own, cost, saved, ...sums }) => [
    from ?? '',
    name ?? '',
    ...(part ? [own ?? ''] : []),
    ...columns.map((column) => String(sums[column])),
    (cost / 1e9).toFixed(9),
    (saved / 1e9).toFixed(9),
    ...timeColumns.map(({ time, fraction }) => String(sums[time]?.[fraction] ?? '')),
  ]);
  const timeNames = timeColumns.map(({ time, fraction }) => `${time}.${fraction}`);
  return [['from', by, ...(part ? [part] : []), ...columns, 'costUsd', 'savedUsd', ...timeNames], ...lines]
    .map((cells) => `${cells.map(csvCell).join(',')}\r\n`)
    .join('');
};

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
const csvCell = (text: string): string => {
  const harmless = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};
