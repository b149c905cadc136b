import type { UsageReport } from '../../api/usage.ts';
import { count } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { usd } from '../../format/usd.ts';
import { Empty } from '../../parts/layout/empty.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { WholeNames } from '../../parts/text/whole-names.tsx';
import { href } from '../../router/route.ts';
import { atLeast, groups } from './usage-view.ts';

/** Without a name: the total. */
type Row = UsageReport['total'] & { readonly name?: string | null };

/** The sums by name, and their total. */
export const UsageTable = ({ report }: { readonly report: UsageReport }) => (
  <ReportTable title="Usage" report={report} columns={[...figures, ...(report.by === 'scenario' ? [saved] : [])]} />
);

/** How long requests took, by name and of all. */
export const TimesTable = ({ report }: { readonly report: UsageReport }) => (
  <ReportTable title="Times" report={report} columns={times} />
);

const ReportTable = ({
  title,
  report: { by, rows, total },
  columns,
}: {
  readonly title: string;
  readonly report: UsageReport;
  readonly columns: readonly Column<Row>[];
}) => {
  const group = groups.find(({ value }) => value === by)?.label ?? by;
  const shown: readonly Row[] = rows.length > 1 ? [...rows, total] : rows;
  return (
    <DataTable
      label={`${title} by ${group.toLowerCase()}`}
      columns={[
        { name: 'name', title: group, cell: (row) => <span className="data-whole">{nameOf(row)}</span> },
        ...columns,
      ]}
      rows={shown}
      rowKey={({ name }) => `${typeof name} ${name}`}
      empty={
        <Empty
          title="No requests in this time"
          actions={<a href={href('/playground')}>Send one from the playground</a>}
        >
          Each request counts here once it has ended.
        </Empty>
      }
    />
  );
};

const time = (
  of: 'firstByteMs' | 'durationMs' | 'overheadMs',
  percentile: 'p50' | 'p95' | 'p99',
  title: string,
): Column<Row> => ({
  name: `${of} ${percentile}`,
  title,
  numeric: true,
  cell: (row) => (row[of] ? duration(row[of][percentile]) : '–'),
});

const times: readonly Column<Row>[] = [
  time('firstByteMs', 'p50', 'First byte, median'),
  time('firstByteMs', 'p95', 'First byte, 95\u00a0%'),
  time('firstByteMs', 'p99', 'First byte, 99\u00a0%'),
  time('durationMs', 'p50', 'Duration, median'),
  time('durationMs', 'p95', 'Duration, 95\u00a0%'),
  time('durationMs', 'p99', 'Duration, 99\u00a0%'),
  time('overheadMs', 'p50', 'Overhead, median'),
  time('overheadMs', 'p95', 'Overhead, 95\u00a0%'),
  time('overheadMs', 'p99', 'Overhead, 99\u00a0%'),
];

const nameOf = ({ name }: Row) => (name === undefined ? <strong>Total</strong> : <WholeNames text={name ?? '–'} />);

const tokens = (title: string, about: string, of: (row: Row) => number): Column<Row> => ({
  name: title,
  title,
  about,
  numeric: true,
  cell: (row) => atLeast(of(row), row.uncounted, count),
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
  {
    name: 'losses',
    title: 'Losses',
    about: 'Fields lost in conversion',
    numeric: true,
    cell: ({ losses }) => count(losses),
  },
  tokens('Input', 'Tokens that no cache has to do with', ({ input }) => input),
  tokens('Cache read', 'Tokens read from a cache', ({ cacheRead }) => cacheRead),
  tokens('Cache write', 'Tokens written to a cache', ({ cacheWrite }) => cacheWrite),
  tokens('Output', 'Tokens of answers, reasoning included', ({ output }) => output),
  tokens('Reasoning', 'The part of the output spent on reasoning', ({ reasoning }) => reasoning),
  { name: 'cost', title: 'Cost', numeric: true, cell: ({ cost, unpriced }) => atLeast(cost, unpriced, usd) },
];
