import { useCallback } from 'react';
import { listSessions, type Session } from '../../api/requests/sessions.ts';
import { useLoad } from '../../api/use-load.ts';
import { count } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { dayAndTime } from '../../format/time.ts';
import { tokens } from '../../format/tokens.ts';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { RequestTime } from '../../parts/table/request-columns.tsx';
import { changeQuery, href } from '../../router/route.ts';
import { costOf, modelNames } from './session-figures.ts';

const ranges = [
  { value: '1h', label: 'Hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
] as const;

const usualRange = '24h';

/** How often the list is read, in milliseconds: it is summed up from files. */
const everyMs = 10_000;

/** The sessions of a span of time. */
export const SessionList = ({ query }: { readonly query: URLSearchParams }) => {
  const from = ranges.find(({ value }) => value === query.get('range'))?.value ?? usualRange;
  const { data, error, reload } = useLoad(
    useCallback((signal) => listSessions(from, signal), [from]),
    everyMs,
  );
  const row = query.get('row');
  return (
    <>
      <PageBar
        title="Sessions"
        about="Requests grouped by conversation: by the id that the agent sends, else by how the conversation begins."
        actions={
          <Segmented
            label="Time"
            value={from}
            onChange={(range) => changeQuery({ range: range === usualRange ? '' : range })}
            options={ranges}
          />
        }
      />
      {error && <LoadFailed what="the sessions" error={error} onRetry={reload} />}
      {data?.truncated && (
        <Notice kind="warn">There are more requests in this time than are summed up here: only the newest are.</Notice>
      )}
      <Panel title="Sessions" flush>
        {!data && !error && <Loading what="sessions" />}
        {data && (
          <DataTable
            label="Session list"
            columns={columns}
            rows={data.sessions}
            rowKey={({ id }) => id}
            open={({ id }) => href('/sessions', id)}
            onOpen={({ id }) => changeQuery({ row: id })}
            current={({ id }) => id === row}
            empty={
              <Empty title="No sessions in this time" actions={<a href={href('/clients')}>Connect a client</a>}>
                Requests appear here once they have ended.
              </Empty>
            }
          />
        )}
      </Panel>
    </>
  );
};

const columns: readonly Column<Session>[] = [
  { name: 'last', title: 'Last used', cell: ({ endedAt }) => <RequestTime text={dayAndTime(endedAt)} /> },
  { name: 'id', title: 'Session', cell: ({ id }) => <span className="data-name mono">{id}</span> },
  { name: 'models', title: 'Models', cell: (session) => <span className="data-name">{modelNames(session)}</span> },
  {
    name: 'tools',
    title: 'Tools',
    cell: ({ tools }) => (
      <span className="data-name" title={tools.map(({ name, calls }) => `${name}: ${count(calls)}`).join('\n')}>
        {tools.map(({ name }) => name).join(', ') || '–'}
      </span>
    ),
  },
  {
    name: 'turns',
    title: 'Turns',
    about: 'Turns of the user, results of tools not counted',
    numeric: true,
    cell: ({ turns }) => count(turns),
  },
  { name: 'requests', title: 'Requests', numeric: true, cell: ({ requests }) => count(requests) },
  {
    name: 'tokens',
    title: 'Tokens',
    about: 'Input (of which cached) → output',
    numeric: true,
    cell: ({ usage }) => tokens(usage),
  },
  { name: 'cost', title: 'Cost', about: '≥: the cost of some requests is not known', numeric: true, cell: costOf },
  {
    name: 'time',
    title: 'Time',
    about: 'From the first request to the end of the last',
    numeric: true,
    cell: ({ startedAt, endedAt }) => duration(endedAt - startedAt),
  },
];
