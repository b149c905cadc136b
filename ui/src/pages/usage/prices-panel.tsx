import { type KnownModel, priceSource, readModelFacts } from '../../api/config/models.ts';
import { useLoad } from '../../api/use-load.ts';
import { Empty } from '../../parts/layout/empty.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { WholeNames } from '../../parts/text/whole-names.tsx';

interface PricedModel {
  readonly provider: string;
  readonly known: KnownModel;
  /** Where the price comes from, and of which date it is. */
  readonly source: string;
}

/** The prices that requests are counted at now, and where they come from. */
export const PricesPanel = () => {
  const { data, error, reload } = useLoad(readModelFacts);
  const rows = (data ?? []).flatMap((one) =>
    one.models.map((known): PricedModel => ({ provider: one.provider, known, source: priceSource(one, known) })),
  );
  return (
    <Panel
      flush
      title="Prices"
      about="USD per million tokens. Each request is counted at the prices that were known when it ended; list prices are a guide, not a bill."
    >
      {error && <LoadFailed what="the prices" error={error} onRetry={reload} />}
      {data && (
        <DataTable
          label="Prices of the configured models"
          columns={columns}
          rows={rows}
          rowKey={({ provider, known }) => `${provider},${known.model}`}
          empty={<Empty title="No models" />}
        />
      )}
    </Panel>
  );
};

const columns: readonly Column<PricedModel>[] = [
  {
    name: 'model',
    title: 'Model',
    cell: ({ provider, known }) => (
      <span className="data-whole">
        <WholeNames text={`${provider},${known.model}`} />
      </span>
    ),
  },
  {
    name: 'input',
    title: 'Input',
    numeric: true,
    cell: ({ known: { price } }) => (price ? `$${price.input}` : '–'),
  },
  {
    name: 'output',
    title: 'Output',
    numeric: true,
    cell: ({ known: { price } }) => (price ? `$${price.output}` : '–'),
  },
  { name: 'source', title: 'Source', cell: ({ source }) => source },
];
