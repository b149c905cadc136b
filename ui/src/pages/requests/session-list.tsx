import { useCallback, useMemo } from 'react';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { listSessions, type Session } from '../../api/requests/sessions.ts';
import { useLoad } from '../../api/use-load.ts';
import { count, counted, duration, listTime, tokens, usd } from '../../format/figures.ts';
import { Empty, LoadFailed, Loading, Notice } from '../../parts/layout/notice.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { FilterChips } from '../../parts/table/filter-chips.tsx';
import { Dot } from '../../parts/text/badge.tsx';
import { changeQuery, route } from '../../router/route.ts';
import { FilterBar } from './filter-bar.tsx';
import type { RequestFilter } from './request-filter.ts';

/** How often the list is read, in milliseconds: it is summed up from files. */
const everyMs = 10_000;

/** How many clients have a chip. */
const mostClients = 5;

const none: readonly never[] = [];

/** `≥` before a cost of which a part isn't known. */
export const costOf = ({ cost, unpriced }: Pick<Session, 'cost' | 'unpriced'>): string => {
  if (unpriced === 0) return usd(cost);
  return cost === 0 ? '–' : `≥ ${usd(cost)}`;
};

/** The address of the list with this session open. */
const sessionAddress = (id: string): string => {
  const query = new URLSearchParams(route.get().query);
  query.set('session', id);
  return `#/requests?${query}`;
};

/** The requests grouped by session. Those of one request alone wait behind a chip: they would bury those of agents. */
export const SessionList = ({
  filter,
  titles,
  withSingle,
}: {
  readonly filter: RequestFilter;
  readonly titles: ReadonlyMap<string, string>;
  readonly withSingle: boolean;
}) => {
  const { client, status, text } = filter;
  const from = filter.from || '24h';
  const { data, error, reload } = useLoad(
    useCallback(
      (signal: AbortSignal) =>
        listSessions(
          {
            from,
            client: client || undefined,
            status: status === 'failed' ? status : undefined,
            text: text || undefined,
            least: withSingle ? 1 : 2,
          },
          signal,
        ),
      [from, client, status, text, withSingle],
    ),
    everyMs,
  );
  const columns = useMemo(() => columnsWith(titles), [titles]);
  const rows = data?.sessions ?? none;
  const single = data?.single ?? 0;
  const clients = [
    ...new Set([...(client === '' ? [] : [client]), ...rows.flatMap(({ client: own = [] }) => own)]),
  ].slice(0, mostClients);
  const chips = [
    {
      key: 'status failed',
      label: 'With failures',
      count: rows.filter(({ failed }) => failed > 0).length,
      tone: 'bad',
      on: filter.status === 'failed',
    } as const,
    { key: 'single 1', label: 'With single requests', count: single, on: withSingle },
    ...clients.map((name) => ({
      key: `client ${name}`,
      label: name,
      count: rows.filter((one) => one.client === name).length,
      on: client === name,
    })),
  ];
  return (
    <>
      <FilterBar filter={filter} noSpan="24h">
        <FilterChips
          label="Filters"
          chips={chips}
          onToggle={(key, on) => {
            const [name = '', ...value] = key.split(' ');
            changeQuery({ [name]: on ? value.join(' ') : '' });
          }}
        />
      </FilterBar>
      <div className="request-notices">
        {error && <LoadFailed what="the sessions" error={error} onRetry={reload} />}
        {!data && !error && <Loading what="sessions" />}
        {data?.truncated && (
          <Notice kind="warn">A session has more requests than are summed up here: only its newest are.</Notice>
        )}
      </div>
      {data && (
        <DataTable
          lines
          label="Sessions"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          open={({ id }) => sessionAddress(id)}
          current={({ id }) => id === filter.session}
          empty={
            <Empty title="No sessions in this time">
              {single > 0
                ? `${counted(single, 'single request')} of other conversations.`
                : 'Requests of one conversation appear here as one row.'}
            </Empty>
          }
        />
      )}
    </>
  );
};

/** The oldest title of each session that requests in memory have: what is on disk has none. */
export const sessionTitles = (requests: readonly RequestSummary[]): ReadonlyMap<string, string> =>
  new Map(requests.flatMap(({ session, title }) => (session && title ? [[session, title] as const] : [])));

const toolsOf = ({ tools }: Session): string =>
  tools
    .slice(0, 4)
    .map(({ name, calls }) => `${name} ×${count(calls)}`)
    .join(', ');

const modelsOf = ({ models }: Session): string => [...new Set(models.map(({ model }) => model))].join(', ');

const columnsWith = (names: ReadonlyMap<string, string>): readonly Column<Session>[] => [
  { name: 'time', title: 'Last used', width: '6.75rem', cell: ({ endedAt }) => listTime(endedAt) },
  {
    name: 'state',
    title: '',
    width: '1.5rem',
    cell: ({ failed }) =>
      failed > 0 ? <Dot tone="bad" title={`${count(failed)} failed`} /> : <Dot tone="ok" title="None failed" />,
  },
  {
    name: 'title',
    title: 'Session',
    isLink: true,
    cell: (session) => {
      const name = names.get(session.id);
      const more = [session.client, toolsOf(session)].filter(Boolean).join(' · ');
      return (
        <>
          {name ?? <span className="mono">{session.id.slice(0, 8)}</span>}
          {more && <span className="soft"> · {more}</span>}
        </>
      );
    },
  },
  { name: 'model', title: 'Models', width: '20%', cell: (session) => modelsOf(session) || '–' },
  {
    name: 'requests',
    title: 'Requests',
    about: 'Turns of the user · requests · of these, failed',
    width: '7rem',
    numeric: true,
    cell: ({ turns, requests, failed }) => (
      <>
        <span className="soft">{counted(turns, 'turn')} ·</span> {count(requests)}
        {failed > 0 && <span className="request-failed"> · {count(failed)}</span>}
      </>
    ),
  },
  {
    name: 'tokens',
    title: 'Tokens',
    width: '7.5rem',
    numeric: true,
    wideOnly: true,
    cell: ({ usage }) => tokens(usage),
  },
  { name: 'cost', title: 'Cost', width: '5rem', numeric: true, wideOnly: true, cell: costOf },
  {
    name: 'duration',
    title: 'Span',
    about: 'From the begin of its first request to the end of its last, in this time',
    width: '6.5rem',
    numeric: true,
    cell: ({ startedAt, endedAt, busyMs }) => (
      <span title={`${duration(busyMs)} in requests`}>{duration(endedAt - startedAt)}</span>
    ),
  },
];
