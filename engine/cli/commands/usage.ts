import { readUsageQuery, usageCsv, usageReport } from '../../features/usage/report.ts';
import type { UsageFigures, UsageInterval, UsageReport } from '../../features/usage/schema.ts';
import { messageOf } from '../../model/fault.ts';
import { openStore, storeFile } from '../../store/store-thread.ts';
import { type Cli, CommandError } from '../cli.ts';

/** Options of `junctor usage`, as typed. */
interface UsageOptions {
  readonly by?: string;
  readonly since?: string;
  readonly until?: string;
  readonly step?: string;
  readonly times?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** `junctor usage`: prints requests, tokens and cost over time. Reads the store's file, so the service need not run. */
export const printUsage = async (
  cli: Cli,
  { by, since, until, step, times = false, json = false, csv = false }: UsageOptions,
): Promise<void> => {
  if (json && csv) throw new CommandError('--json and --csv exclude each other.');
  const names = { from: '--since', to: '--until', by: '--by', step: '--step' };
  const query = readUsageQuery({ from: since, to: until, by, step }, Date.now(), names);
  const store = openStore({ role: 'read', file: storeFile(cli.home) }, { warn: cli.print });
  const cells = await store
    .ask('usage', query)
    .catch((error: unknown) => {
      throw new CommandError(messageOf(error));
    })
    .finally(() => store.close());
  const report = usageReport(query, cells);
  if (json) cli.print(JSON.stringify(report, null, 2));
  else if (csv) cli.print(usageCsv(report).trimEnd());
  else for (const line of tableOf(report, times)) cli.print(line);
};

const tableOf = ({ from, to, by, part, step, total, rows }: UsageReport, times: boolean): readonly string[] => {
  const columns = columnsOf(by, times);
  const figures = (sums: UsageFigures): readonly string[] => Object.values(columns).map((column) => column(sums));
  const span = `From ${from} to ${to}`;
  if (rows.length === 0) return [`${span}: no requests.`];
  const stepped = step !== 'none';
  const head = [...(stepped ? [step] : []), by, ...(part ? [part] : []), ...Object.keys(columns)];
  const cells = rows.map(({ from: start, name, part: own, ...sums }) => [
    ...(stepped ? [startText(start ?? '', step)] : []),
    harmless(name ?? '–'),
    ...(part ? [harmless(own ?? '–')] : []),
    ...figures(sums),
  ]);
  const lines = [head, ...cells, [...(stepped ? [''] : []), 'total', ...(part ? [''] : []), ...figures(total)]];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const names = head.length - Object.keys(columns).length;
  const table = lines.map((line) =>
    line
      .map((cell, at) => (at < names ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  const { unpriced } = total;
  const unknown = unpriced === 1 ? 'the cost of 1 request is' : `the costs of ${unpriced} requests are`;
  const costs = unpriced > 0 ? [`≥: ${unknown} not known; see docs/models.md.`] : [];
  const note = times
    ? ['Milliseconds, within 12 %: 50 %, 95 % and 99 % of the requests were at least this fast.']
    : costs;
  return [span, '', ...table, ...note.flatMap((line) => ['', line])];
};

const columnsOf = (by: UsageReport['by'], times: boolean): Columns => {
  if (times) return timeColumns;
  return by === 'scenario' ? { ...usual, saved } : usual;
};

const startText = (start: string, step: UsageInterval): string => start.slice(0, startLength[step]);

const startLength = {
  '5s': 'yyyy-mm-ddThh:mm:ss'.length,
  minute: 'yyyy-mm-ddThh:mm'.length,
  hour: 'yyyy-mm-ddThh:mm'.length,
  day: 'yyyy-mm-dd'.length,
  month: 'yyyy-mm'.length,
  none: 0,
} as const satisfies Record<UsageInterval, number>;

/** Clients choose names of models: no control character reaches the terminal. */
const harmless = (name: string): string => name.replaceAll(/\p{C}/gu, '�');

type Columns = Readonly<Record<string, (figures: UsageFigures) => string>>;

/** Three percentiles in one column each: nine would not fit a terminal. */
const timeColumns: Columns = {
  'first byte p50/p95/p99': ({ firstByteMs }) => percentiles(firstByteMs),
  'duration p50/p95/p99': ({ durationMs }) => percentiles(durationMs),
  'overhead p50/p95/p99': ({ overheadMs }) => percentiles(overheadMs),
};

const percentiles = (ms: UsageFigures['durationMs']): string =>
  ms ? [ms.p50, ms.p95, ms.p99].map(count).join('/') : '–';

const usual: Columns = {
  requests: ({ requests }) => count(requests),
  errors: ({ errors }) => count(errors),
  retries: ({ retries }) => count(retries),
  losses: ({ losses }) => count(losses),
  input: ({ input, uncounted }) => atLeast(input, uncounted, count),
  'cache read': ({ cacheRead, uncounted }) => atLeast(cacheRead, uncounted, count),
  'cache write': ({ cacheWrite, uncounted }) => atLeast(cacheWrite, uncounted, count),
  output: ({ output, uncounted }) => atLeast(output, uncounted, count),
  reasoning: ({ reasoning, uncounted }) => atLeast(reasoning, uncounted, count),
  cost: ({ cost, unpriced }) => atLeast(cost, unpriced, usd),
};

/** Against the default destination, as far as both costs are known. */
const saved = (sums: UsageFigures): string => {
  if (sums.uncompared === 0) return usd(sums.saved);
  return sums.saved === 0 ? '–' : `${usd(sums.saved)} (${count(sums.uncompared)} unknown)`;
};

/** A sum whose parts may be unknown. */
const atLeast = (sum: number, unknown: number, format: (value: number) => string): string => {
  if (unknown === 0) return format(sum);
  return sum === 0 ? '–' : `≥ ${format(sum)}`;
};

const count = (value: number): string => value.toLocaleString('en-US');

const usd = (nanoDollars: number): string => {
  const dollars = Math.abs(nanoDollars) / 1e9;
  const digits = dollars >= 1 ? 2 : 6;
  return `${nanoDollars < 0 ? '-' : ''}$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
};
