import type { KnownModel } from '../../api/config/models.ts';
import type { UsageReport } from '../../api/usage.ts';
import { count } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { usd } from '../../format/usd.ts';
import { SeriesKey } from '../../parts/chart/series-chart.tsx';
import { IconButton } from '../../parts/controls/button.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { WholeNames } from '../../parts/text/whole-names.tsx';
import { atLeast, groups, requestsOf, titleOf, type UsageFigures, type usageViewOf } from './usage-view.ts';

/** A model's price, where it comes from and how it is found. */
export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  readonly price: KnownModel['price'];
  readonly source: string;
}

/** Without a name: the total. */
type Row = UsageFigures & { readonly name?: string | null };

interface UsageTableProps {
  readonly view: ReturnType<typeof usageViewOf>;
  readonly rows: UsageReport['rows'];
  readonly total: UsageFigures;
  /** The names with a colour of their own. */
  readonly names: readonly (string | null)[];
  /** By `provider,model`. */
  readonly prices: ReadonlyMap<string, PricedModel>;
  readonly onPrice: (model: PricedModel) => void;
}

/** The sums by name, as the legend of the chart, and their total. Each row leads to its requests. */
export const UsageTable = ({ view, rows, total, names, prices, onPrice }: UsageTableProps) => {
  const { by } = view;
  const group = groups.find(({ value }) => value === by)?.label ?? by;
  const shown: readonly Row[] = rows.length > 1 ? [...rows, total] : rows;
  const columns: readonly Column<Row>[] = [
    {
      name: 'name',
      title: group,
      cell: ({ name }) => (
        <span className="data-whole">
          {name === undefined ? (
            <strong>Total</strong>
          ) : (
            <>
              <SeriesKey at={names.includes(name) ? names.indexOf(name) : names.length} />
              <WholeNames text={titleOf(name, by)} />
            </>
          )}
        </span>
      ),
    },
    figure('Cost', ({ cost, unpriced }) => atLeast(cost, unpriced, usd)),
    ...(by === 'model'
      ? [priceColumn(prices, onPrice)]
      : [
          figure(
            'Saved',
            ({ saved, uncompared }) => (uncompared > 0 && saved === 0 ? '–' : usd(saved)),
            'What the same tokens would have cost more at the default model, where both prices are known',
          ),
        ]),
    figure('Requests', ({ requests }) => count(requests)),
    {
      name: 'Failed',
      title: 'Failed',
      about: 'Requests whose client got an error',
      numeric: true,
      cell: ({ name, errors }) => {
        const to = requestsOf(view, name, 'failed');
        return errors > 0 && to !== undefined ? <a href={to}>{count(errors)}</a> : count(errors);
      },
    },
    tokens('Input', 'Tokens that no cache has to do with', ({ input }) => input),
    tokens('Cache read', 'Tokens read from a cache', ({ cacheRead }) => cacheRead),
    tokens('Output', 'Tokens of answers, reasoning included', ({ output }) => output),
    time('First byte', 'firstByteMs', 'Median and 95 % of the times to the first byte'),
    time('Duration', 'durationMs', 'Median and 95 % of the times to the end'),
    ...(view.isWhole ? furtherFigures : []),
  ];
  return (
    <DataTable
      label={`Usage by ${group.toLowerCase()}`}
      columns={columns}
      rows={shown}
      rowKey={({ name }) => `${typeof name} ${name}`}
      open={({ name }) => requestsOf(view, name)}
      empty={null}
    />
  );
};

const figure = (title: string, text: (row: Row) => string, about?: string): Column<Row> => ({
  name: title,
  title,
  numeric: true,
  ...(about !== undefined && { about }),
  cell: text,
});

const tokens = (title: string, about: string, of: (row: Row) => number): Column<Row> =>
  figure(title, (row) => atLeast(of(row), row.uncounted, count), about);

const time = (title: string, of: 'firstByteMs' | 'durationMs' | 'overheadMs', about: string): Column<Row> =>
  figure(title, (row) => (row[of] ? `${duration(row[of].p50)} · ${duration(row[of].p95)}` : '–'), about);

const furtherFigures: readonly Column<Row>[] = [
  tokens('Cache write', 'Tokens written to a cache', ({ cacheWrite }) => cacheWrite),
  tokens('Reasoning', 'The part of the output spent on reasoning', ({ reasoning }) => reasoning),
  figure('Retries', ({ retries }) => count(retries), 'Calls after the first one'),
  figure('Losses', ({ losses }) => count(losses), 'Fields lost in conversion'),
  time('Overhead', 'overheadMs', 'Median and 95 % of the gateway’s own time'),
];

const priceColumn = (prices: ReadonlyMap<string, PricedModel>, onPrice: (model: PricedModel) => void): Column<Row> => ({
  name: 'price',
  title: 'Price',
  about: 'USD per million tokens of prompts and answers',
  numeric: true,
  cell: ({ name }) => {
    const known = prices.get(name ?? '');
    return (
      known && (
        <span title={known.source}>
          {known.price ? `$${known.price.input} / $${known.price.output}` : 'not known'}{' '}
          <IconButton icon="edit" label={`Set the price of ${name}`} onClick={() => onPrice(known)} />
        </span>
      )
    );
  },
});
