import type { ChartStep, UsageGroup, UsageReport } from '../../api/usage.ts';
import { count, duration, usd } from '../../format/figures.ts';
import { href } from '../../router/route.ts';
import { usageSteps } from './usage-steps.ts';

/** A span up to now. */
interface Range {
  /** As the address has it, and the service takes it. */
  readonly name: string;
  readonly title: string;
  /** The chart's. */
  readonly step: ChartStep;
  /** Where the span before it begins; absent: usage isn't kept that long. */
  readonly before?: string;
}

const lastWeek: Range = { name: '7d', title: '7 days', step: 'day', before: '14d' };
export const lastDay: Range = { name: '24h', title: '24 hours', step: 'hour', before: '48h' };

export const ranges: readonly Range[] = [
  { name: '1h', title: '1 hour', step: 'minute', before: '2h' },
  { name: '6h', title: '6 hours', step: 'minute', before: '12h' },
  lastDay,
  lastWeek,
  { name: '30d', title: '30 days', step: 'day', before: '60d' },
  { name: '365d', title: 'A year', step: 'month' },
];

export const groups: readonly { readonly value: UsageGroup; readonly label: string }[] = [
  { value: 'model', label: 'Model' },
  { value: 'provider', label: 'Provider' },
  { value: 'scenario', label: 'Scenario' },
  { value: 'client', label: 'Client' },
  { value: 'protocol', label: 'Client protocol' },
];

/** The sums of all requests, or of those of one name. */
export type UsageFigures = UsageReport['total'];

/** What the chart shows of each step. */
interface Measure {
  readonly name: 'cost' | 'tokens' | 'requests' | 'failures' | 'p95' | 'overhead';
  readonly title: string;
  /** Null: unknown. */
  readonly of: (figures: UsageFigures) => number | null;
  /** Of how many requests it isn't known. */
  readonly unknown?: (figures: UsageFigures) => number;
  /** Whether values of several names may be added. */
  readonly adds: boolean;
  readonly format: (value: number) => string;
}

const usualMeasure: Measure = {
  name: 'cost',
  title: 'Cost',
  of: ({ cost }) => cost,
  unknown: ({ unpriced }) => unpriced,
  adds: true,
  format: usd,
};

export const measures: readonly Measure[] = [
  usualMeasure,
  {
    name: 'tokens',
    title: 'Tokens',
    of: ({ input, cacheRead, cacheWrite, output }) => input + cacheRead + cacheWrite + output,
    unknown: ({ uncounted }) => uncounted,
    adds: true,
    format: count,
  },
  { name: 'requests', title: 'Requests', of: ({ requests }) => requests, adds: true, format: count },
  { name: 'failures', title: 'Failures', of: ({ errors }) => errors, adds: true, format: count },
  {
    name: 'p95',
    title: 'Duration, p95',
    of: ({ durationMs }) => durationMs?.p95 ?? null,
    adds: false,
    format: duration,
  },
  {
    name: 'overhead',
    title: 'Overhead, p95',
    of: ({ overheadMs }) => overheadMs?.p95 ?? null,
    adds: false,
    format: duration,
  },
];

/** How many of the last steps are just now. */
const newSteps = 3;

/** How many times as high values are that may rise without being noise. */
const leastRise = 1.5;

/** Names whose figure rose just now: how many times the usual one before, the median, the mean of the last steps is. */
export const risesOf = (
  report: UsageReport,
  of: (figures: UsageFigures) => number | null,
  step: ChartStep,
): ReadonlyMap<string | null, number> => {
  const newMs = usageSteps(report, step).at(-newSteps) ?? 0;
  const values = new Map<string | null, { readonly before: number[]; readonly now: number[] }>();
  for (const row of report.rows) {
    const value = of(row);
    const known = values.get(row.name) ?? { before: [], now: [] };
    values.set(row.name, known);
    if (value !== null) (Date.parse(row.from ?? '') < newMs ? known.before : known.now).push(value);
  }
  return new Map(
    [...values].flatMap(([name, { before, now }]) => {
      const usual = before.toSorted((one, other) => one - other)[before.length >> 1] ?? 0;
      const rise = now.reduce((sum, value) => sum + value, 0) / now.length / usual;
      return usual > 0 && rise >= leastRise ? [[name, rise] as const] : [];
    }),
  );
};

/** What the page shows. */
interface UsageView {
  readonly range: Range;
  readonly by: UsageGroup;
  readonly measure: Measure;
  /** All figures are in the table. */
  readonly isWhole: boolean;
}

/** The range of an address. */
export const rangeIn = (query: URLSearchParams, usual: Range): Range =>
  ranges.find(({ name }) => name === query.get('range')) ?? usual;

/** The view of an address. */
export const usageViewOf = (query: URLSearchParams): UsageView => ({
  range: rangeIn(query, lastWeek),
  by: groups.find(({ value }) => value === query.get('by'))?.value ?? 'model',
  measure: measures.find(({ name }) => name === query.get('measure')) ?? usualMeasure,
  isWhole: query.has('all'),
});

/** What a row of a split unfolds into. */
export const partOf = (by: UsageGroup): UsageGroup => (by === 'model' ? 'client' : 'model');

/** The parameter of the list of requests by which one name of a group is found. */
const filterOf: Readonly<Partial<Record<UsageGroup, string>>> = {
  model: 'model',
  provider: 'provider',
  client: 'client',
  scenario: 'scenario',
};

/** The address of the requests of a span that have names; `undefined`: no filter finds them. */
export const requestsOf = (
  span: { readonly from: string; readonly to?: string },
  names: readonly (readonly [group: UsageGroup, name: string | null])[],
  status?: 'failed',
): string | undefined => {
  const query = new URLSearchParams({ ...span });
  for (const [group, name] of names) {
    const filter = filterOf[group];
    if (name === null || filter === undefined || name === 'other') return undefined;
    query.set(filter, name);
  }
  if (status) query.set('status', status);
  return `${href('/requests')}?${query}`;
};

/** A sum whose parts may be unknown. */
export const atLeast = (sum: number, unknown: number, format: (value: number) => string): string => {
  if (unknown === 0) return format(sum);
  return sum === 0 ? '–' : `≥ ${format(sum)}`;
};

/** A name of a group; null: what has none. */
export const titleOf = (name: string | null, by: UsageGroup): string =>
  name ?? `No ${(groups.find(({ value }) => value === by)?.label ?? by).toLowerCase()}`;
