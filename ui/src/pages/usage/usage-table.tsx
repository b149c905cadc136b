import { useCallback } from 'react';
import type { KnownModel } from '../../api/config/models.ts';
import { readUsage, type UsageGroup, type UsageReport } from '../../api/usage.ts';
import { useLoad } from '../../api/use-load.ts';
import { count, duration, usd } from '../../format/figures.ts';
import { SeriesKey } from '../../parts/chart/series-chart.tsx';
import { IconButton } from '../../parts/controls/button.tsx';
import { LoadFailed } from '../../parts/layout/notice.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { Badge } from '../../parts/text/badge.tsx';
import { WholeNames } from '../../parts/text/whole-names.tsx';
import { atLeast, groups, partOf, requestsOf, titleOf, type UsageFigures, type usageViewOf } from './usage-view.ts';

/** A model's price, where it comes from and how it is found. */
export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  readonly price: KnownModel['price'];
  readonly source: string;
}

/** Without a name: the total. With a part: what a name came to there. */
type Row = UsageFigures & { readonly name?: string | null; readonly part?: string | null };

interface UsageTableProps {
  readonly view: ReturnType<typeof usageViewOf>;
  readonly rows: UsageReport['rows'];
  readonly total: UsageFigures;
  /** How many times the measure is what it was before, where it rose just now. */
  readonly rises: ReadonlyMap<string | null, number>;
  /** Names that are unfolded into the second split. */
  readonly unfolded: readonly (string | null)[];
  readonly onUnfold: (names: readonly (string | null)[]) => void;
  /** The names with a colour of their own. */
  readonly names: readonly (string | null)[];
  /** By `provider,model`. */
  readonly prices: ReadonlyMap<string, PricedModel>;
  readonly onPrice: (model: PricedModel) => void;
  /** How often the parts are read, in milliseconds. */
  readonly everyMs: number;
}

/** The sums by name, as the legend of the chart, and their total. A row leads to its requests, and unfolds into a second split. */
export const UsageTable = ({
  view,
  rows,
  total,
  rises,
  unfolded,
  onUnfold,
  names,
  prices,
  onPrice,
  everyMs,
}: UsageTableProps) => {
  const { by, measure } = view;
  const from = view.range.name;
  const second = partOf(by);
  const parts = useLoad(
    useCallback((signal) => readUsage({ from, by: `${by},${second}`, step: 'none' }, signal), [from, by, second]),
    everyMs,
    unfolded.length > 0,
  );
  const partsOf = (name: string | null): readonly Row[] =>
    (unfolded.includes(name) ? (parts.data?.rows ?? []) : [])
      .filter((row) => row.name === name)
      .toSorted((one, other) => (measure.of(other) ?? 0) - (measure.of(one) ?? 0));
  const filters = ({ name, part }: Row): readonly (readonly [UsageGroup, string | null])[] => [
    ...(name === undefined ? [] : [[by, name] as const]),
    ...(part === undefined ? [] : [[second, part] as const]),
  ];
  const group = groups.find(({ value }) => value === by)?.label ?? by;
  const split = rows.flatMap((row): readonly Row[] => [row, ...partsOf(row.name)]);
  const columns: readonly Column<Row>[] = [
    {
      name: 'parts',
      title: '',
      width: '2rem',
      cell: ({ name, part }) => {
        if (name === undefined || part !== undefined) return null;
        const isOpen = unfolded.includes(name);
        return (
          <IconButton
            icon={isOpen ? 'down' : 'right'}
            label={`${titleOf(name, by)} by ${second}`}
            aria-expanded={isOpen}
            onClick={() => onUnfold(isOpen ? unfolded.filter((one) => one !== name) : [...unfolded, name])}
          />
        );
      },
    },
    {
      name: 'name',
      title: group,
      isLink: true,
      cell: ({ name, part }) => (
        <span className={part === undefined ? 'data-whole' : 'data-whole data-part'}>
          {name === undefined ? (
            <strong>Total</strong>
          ) : part !== undefined ? (
            <>
              <span className="soft data-part-of">{titleOf(name, by)} ▸ </span>
              <WholeNames text={titleOf(part, second)} />
            </>
          ) : (
            <>
              <SeriesKey at={names.includes(name) ? names.indexOf(name) : names.length} />
              <WholeNames text={titleOf(name, by)} />
              {rises.has(name) && (
                <Badge tone="warn" title="The last steps, compared with the median before">
                  {`↑ ${(rises.get(name) ?? 0).toFixed(1)}×`}
                </Badge>
              )}
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
      cell: (row) => {
        const to = requestsOf({ from }, filters(row), 'failed');
        return row.errors > 0 && to !== undefined ? <a href={to}>{count(row.errors)}</a> : count(row.errors);
      },
    },
    tokens('Input', 'Tokens that no cache has to do with', ({ input }) => input),
    tokens('Cache read', 'Tokens read from a cache', ({ cacheRead }) => cacheRead),
    tokens('Output', 'Tokens of answers, reasoning included', ({ output }) => output),
    time('First byte', 'firstByteMs', 'Median and 95 % of the times to the first byte'),
    time('Duration', 'durationMs', 'Median and 95 % of the times to the end'),
    time('Overhead', 'overheadMs', 'Median and 95 % of the gateway’s own time to the first byte'),
    ...(view.isWhole ? furtherFigures : []),
  ];
  return (
    <>
      {parts.error && <LoadFailed what="the second split" error={parts.error} onRetry={parts.reload} />}
      <DataTable
        label={`Usage by ${group.toLowerCase()}`}
        columns={columns}
        rows={rows.length > 1 ? [...split, total] : split}
        rowKey={({ name, part }: Row) => JSON.stringify([typeof name, name, typeof part, part])}
        open={(row) => requestsOf({ from }, filters(row))}
        empty={null}
      />
    </>
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
];

const priceColumn = (prices: ReadonlyMap<string, PricedModel>, onPrice: (model: PricedModel) => void): Column<Row> => ({
  name: 'price',
  title: 'Price',
  about: 'USD per million tokens of prompts and answers',
  numeric: true,
  cell: ({ name, part }) => {
    const known = part === undefined ? prices.get(name ?? '') : undefined;
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
