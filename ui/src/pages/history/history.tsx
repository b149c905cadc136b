import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { browsed } from '../../api/requests/browsed-requests.ts';
import { exportHistory, type HistoryPage, type KeptRequest, searchHistory } from '../../api/requests/history.ts';
import { hasFailed } from '../../api/requests/requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { goToField } from '../../config/fields/wanted-field.ts';
import { counted } from '../../format/count.ts';
import { dayAndTime } from '../../format/time.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { requestAddress } from '../../parts/table/request-address.ts';
import { columnsFor } from '../../parts/table/request-columns.tsx';
import { saveText } from '../../parts/text/save-text.ts';
import { changeQuery, href, navigate } from '../../router/route.ts';
import type { PageProps } from '../page.ts';
import './history.css';
import { filterIn, givenIn, type HistoryFilter, historyAddress, noFilter } from './history-address.ts';
import { SearchForm } from './search-form.tsx';

/** Requests that ended, as they are kept on disk. */
export const History = ({ query }: PageProps) => {
  const before = query.get('before') ?? undefined;
  const address = historyAddress(filterIn(query), before);
  // The same filter as before while only the marked row changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address has all of the filter
  const filter = useMemo(() => filterIn(query), [address]);
  const { data, error, loading, reload } = useLoad(
    useCallback((signal) => searchHistory(givenIn(filter), before, signal), [filter, before]),
  );
  const requests = data?.requests ?? none;
  useEffect(() => browsed.set({ title: 'History', address: window.location.hash, requests }), [requests]);
  const search = (wanted: HistoryFilter): void => {
    const next = historyAddress(wanted);
    if (next === address) reload();
    else navigate(next);
  };
  return (
    <>
      <PageBar title="History" about={data && data.days > 0 && `Requests are kept for ${counted(data.days, 'day')}.`} />
      {error && <LoadFailed what="the requests" error={error} onRetry={reload} />}
      <Panel title="Requests" flush actions={<Exports filter={filter} isEmpty={requests.length === 0} />}>
        <SearchForm key={address} filter={filter} requests={requests} onSearch={search} />
        {!data && loading && <Loading what="requests" />}
        {data && (
          <Found page={data} row={query.get('row')} empty={<Nothing page={data} filter={filter} before={before} />} />
        )}
        <nav className="history-pages" aria-label="Pages of requests">
          {before !== undefined && <a href={historyAddress(filter)}>← Newest requests</a>}
          {data && data.next !== null && <a href={historyAddress(filter, data.next)}>Older requests →</a>}
        </nav>
      </Panel>
    </>
  );
};

const none: readonly KeptRequest[] = [];

const keyOf = ({ id, endedAt }: KeptRequest): string => `${endedAt} ${id}`;

const Found = ({
  page: { requests },
  row,
  empty,
}: {
  readonly page: HistoryPage;
  /** The row that was opened last. */
  readonly row: string | null;
  readonly empty: ReactNode;
}) => {
  const columns = useMemo(() => columnsFor(requests, dayAndTime), [requests]);
  return (
    <DataTable
      label="Kept requests"
      columns={columns}
      rows={requests}
      rowKey={keyOf}
      open={requestAddress}
      onOpen={(request) => changeQuery({ row: keyOf(request) })}
      current={(request) => keyOf(request) === row}
      tone={(request) => (hasFailed(request) ? 'bad' : undefined)}
      empty={empty}
    />
  );
};

const Nothing = ({
  page: { days },
  filter,
  before,
}: {
  readonly page: HistoryPage;
  readonly filter: HistoryFilter;
  readonly before: string | undefined;
}) => {
  if (days === 0) {
    return (
      <Empty
        title="The history is off"
        actions={<Button onClick={() => goToField('HISTORY.days')}>Change the setting</Button>}
      >
        No requests are kept on disk, since <code>HISTORY.days</code> is 0. Set it to the number of days to keep them.
      </Empty>
    );
  }
  if (before !== undefined) return <Empty title="No older requests" />;
  return Object.keys(givenIn(filter)).length > 0 ? (
    <Empty title="No requests match" actions={<a href={historyAddress(noFilter)}>Show all</a>} />
  ) : (
    <Empty title="No requests yet" actions={<a href={href('/playground')}>Send one from the playground</a>}>
      Finished requests appear here, also after a restart.
    </Empty>
  );
};

/** Downloads what the search finds, on all pages. */
const Exports = ({ filter, isEmpty }: { readonly filter: HistoryFilter; readonly isEmpty: boolean }) => {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const download = async (format: 'jsonl' | 'har'): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      saveText(`requests.${format}`, [await exportHistory(givenIn(filter), format)]);
    } catch (error) {
      setProblem(wordError(error));
    }
    setBusy(false);
  };
  return (
    <>
      {problem && <span role="alert">{problem}</span>}
      <Button disabled={isEmpty} busy={busy} onClick={() => void download('jsonl')}>
        Export JSONL
      </Button>
      <Button disabled={isEmpty} busy={busy} onClick={() => void download('har')}>
        Export HAR
      </Button>
    </>
  );
};
