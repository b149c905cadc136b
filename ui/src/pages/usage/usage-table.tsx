import type { UsageReport } from '../../api/usage.ts';
import { count } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { usd } from '../../format/usd.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { atLeast, groups } from './usage-view.ts';

/** Without a name: the total. */
type Row = UsageReport['total'] & { readonly name?: string | null };

/** The sums by name, and their total. */
export const UsageTable = ({ report: { by, rows, total } }: { readonly report: UsageReport }) => {
  const title = groups.find(({ value }) => value === by)?.label ?? by;
  const shown: readonly Row[] = rows.length > 1 ? [...rows, total] : rows;
  return (
    <DataTable
      label={`Usage by ${title.toLowerCase()}`}
      columns={[
        { name: 'name', title, cell: (row) => <span className="data-name">{nameOf(row)}</span> },
        ...figures,
        ...(by === 'scenario' ? [saved] : []),
      ]}
      rows={shown}
      rowKey={({ name }) => `${typeof name} ${name}`}
      empty={<Empty title="No requests in this time">Each request counts here once it has ended.</Empty>}
    />
  );
};

const nameOf = ({ name }: Row) => (name === undefined ? <strong>Total</strong> : (name ?? '–'));

const tokens = (title: string, about: string, of: (row: Row) => number): Column<Row> => ({
  name: title,
  title,
  about,
  numeric: true,
  cell: (row) => atLeast(of(row), row.uncounted, count),
});

const times = (title: string, about: string, of: (row: Row) => Row['durationMs']): Column<Row> => ({
  name: title,
  title,
  about,
  numeric: true,
  cell: (row) => {
    const known = of(row);
    return known ? `${duration(known.p50)} / ${duration(known.p95)}` : '–';
  },
});

const saved: Column<Row> = {
  name: 'saved',
  title: 'Saved',
  about: 'What the same tokens would have cost more at the default model, where both prices are known',
  numeric: true,
  cell: ({ saved: known, uncompared }) => {
    if (uncompared === 0) return usd(known);
    return known === 0 ? '–' : `${usd(known)} (${count(uncompared)} unknown)`;
  },
};

const figures: readonly Column<Row>[] = [
  { name: 'requests', title: 'Requests', numeric: true, cell: ({ requests }) => count(requests) },
  {
    name: 'errors',
    title: 'Errors',
    about: 'Requests whose client got an error',
    numeric: true,
    cell: ({ errors }) => count(errors),
  },
  {
    name: 'retries',
    title: 'Retries',
    about: 'Calls after the first one',
    numeric: true,
    cell: ({ retries }) => count(retries),
  },
  tokens('Input', 'Tokens that no cache has to do with', ({ input }) => input),
  tokens('Cache read', 'Tokens read from a cache', ({ cacheRead }) => cacheRead),
  tokens('Cache write', 'Tokens written to a cache', ({ cacheWrite }) => cacheWrite),
  tokens('Output', 'Tokens of answers, reasoning included', ({ output }) => output),
  tokens('Reasoning', 'The part of the output spent on reasoning', ({ reasoning }) => reasoning),
  times('First byte', 'Median and 95th percentile of the time to the first byte', ({ firstByteMs }) => firstByteMs),
  times('Duration', 'Median and 95th percentile of the time to the end', ({ durationMs }) => durationMs),
  times('Overhead', "Median and 95th percentile of the gateway's own time", ({ overheadMs }) => overheadMs),
  { name: 'cost', title: 'Cost', numeric: true, cell: ({ cost, unpriced }) => atLeast(cost, unpriced, usd) },
];
