import { useCallback } from 'react';
import { parseObject } from '../../api/json.ts';
import { type Capture, type RequestSummary, readRequest } from '../../api/requests/requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { duration, tokens, usd } from '../../format/figures.ts';
import { DiffView } from '../../parts/diff/diff-view.tsx';
import { Fold } from '../../parts/layout/fold.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { requestAddress } from '../requests/request-address.ts';
import { stateOf } from '../requests/request-columns.tsx';

/** A request beside the one that it tries again: time, tokens and cost of both, and how their bodies differ. */
export const Origin = ({
  was,
  summary,
  capture,
}: {
  /** The id of the earlier one. */
  readonly was: string;
  readonly summary: RequestSummary;
  readonly capture: Capture | null;
}) => {
  const { data, error } = useLoad(useCallback((signal: AbortSignal) => readRequest(was, signal), [was]));
  if (error) return <Notice>The request that this one tries again is no longer known.</Notice>;
  if (!data) return null;
  const [before, after] = [data.capture, capture].map((one) => one && parseObject(one.client.body));
  return (
    <>
      <DataTable
        label="Retry and original"
        columns={columns}
        rows={[data.summary, summary]}
        rowKey={({ id }) => id}
        open={({ id }) => (id === was ? requestAddress({ id }) : undefined)}
        empty={null}
      />
      {before && after && (
        <Fold title="Changes of the body">
          <DiffView label="Changes of the body" before={before} after={after} />
        </Fold>
      )}
    </>
  );
};

const columns: readonly Column<RequestSummary>[] = [
  {
    name: 'model',
    title: 'Original, retry',
    cell: ({ provider, model, asked }) => (
      <span className="data-whole">{provider === undefined ? asked : `${provider},${model ?? asked}`}</span>
    ),
  },
  { name: 'state', title: 'Status', numeric: true, cell: stateOf },
  { name: 'duration', title: 'Duration', numeric: true, cell: ({ durationMs }) => duration(durationMs) },
  { name: 'tokens', title: 'Tokens', numeric: true, cell: ({ usage }) => (usage ? tokens(usage) : '–') },
  { name: 'cost', title: 'Cost', numeric: true, cell: ({ cost }) => (cost === undefined ? '–' : usd(cost)) },
];
