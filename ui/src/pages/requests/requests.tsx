import { useEffect, useMemo, useRef, useState } from 'react';
import { count, rate } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Empty, LoadFailed, Loading, NodesNotice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Split } from '../../parts/layout/split.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { useReading } from '../../parts/table/use-reading.ts';
import { changeQuery, href, navigate, parseHash } from '../../router/route.ts';
import { rememberScroll, restoreScroll } from '../../router/scroll.ts';
import { useShortcut } from '../../state/shortcuts.ts';
import { Guide } from '../guide/guide.tsx';
import type { PageProps } from '../page.ts';
import { RequestPane } from '../request/request-pane.tsx';
import { SessionPane } from '../request/session-pane.tsx';
import { CaptureSwitch } from './capture-switch.tsx';
import { ExportButton } from './export-button.tsx';
import { FailureGroups } from './failure-groups.tsx';
import { FilterBar, noQuery, RequestFacets } from './filter-bar.tsx';
import { Histogram } from './histogram.tsx';
import { listAddress, requestAddress } from './request-address.ts';
import { type RequestRow, requestColumns } from './request-columns.tsx';
import { filterIn, givenIn, type RequestFilter } from './request-filter.ts';
import './requests.css';
import { SessionList, sessionTitles } from './session-list.tsx';
import { type Requests as Listed, type ListedRequest, useFacets, useRequests } from './use-requests.ts';

/** The home page: live and past requests in one list, and the open one beside it. */
export const Requests = ({ rest: [id], query }: PageProps) => {
  const queryText = query.toString();
  const isGrouped = query.get('group') === 'session';
  const asked = useMemo(() => filterIn(new URLSearchParams(queryText)), [queryText]);
  // A session that is open is no filter of the list of sessions.
  const filter = useMemo(() => (isGrouped ? { ...asked, session: '' } : asked), [asked, isGrouped]);
  const sort = requestColumns.find(({ name, sorts }) => sorts && name === query.get('sort'))?.name ?? '';
  const listed = useRequests(filter, sort);
  const facets = useFacets(filter);
  const session = isGrouped && asked.session !== '' ? asked.session : undefined;
  const isOpen = id !== undefined || session !== undefined;
  const close = (): void => navigate(session === undefined ? listAddress() : listAddress({ session: '' }));
  useShortcut('Escape', 'Close the request', () => isOpen && close());
  // The list has its own place, which it keeps beside what is open, and has lost where one pane alone is shown.
  const opened = id ?? session;
  const before = useRef(opened);
  useEffect(() => {
    // The shell scrolls when the page itself is another one.
    if (before.current === opened) return undefined;
    before.current = opened;
    if (window.innerWidth < twoPanesPx) return restoreScroll();
    rememberScroll();
    return undefined;
  }, [opened]);
  const { activity, list } = listed;
  const titles = useMemo(() => sessionTitles(list?.requests ?? none), [list]);
  return (
    <>
      <PageBar
        title="Requests"
        about={activity && <Now inFlight={activity.inFlightCount} perSecond={perSecondOf(activity)} />}
        actions={
          <>
            <Segmented
              label="Group"
              value={isGrouped ? 'session' : 'none'}
              onChange={(group) => navigate(listAddress({ group: group === 'none' ? '' : group, session: '' }))}
              options={groups}
            />
            <ExportButton filter={filter} />
            <CaptureSwitch state={list?.capture} onChange={listed.reload} />
          </>
        }
      />
      <Split
        name="requests"
        label={session === undefined ? 'Request' : 'Session'}
        side={
          id !== undefined ? (
            <RequestPane key={id} id={id} query={query} onClose={close} />
          ) : (
            session !== undefined && <SessionPane key={session} id={session} onClose={close} />
          )
        }
      >
        {!isGrouped && (
          <>
            <FilterBar filter={filter} noSpan="">
              <RequestFacets filter={filter} facets={facets} titles={titles} />
            </FilterBar>
            {facets !== undefined && facets.requests > 0 && <Histogram filter={filter} />}
            {filter.status === 'failed' && <FailureGroups filter={filter} />}
          </>
        )}
        <div className="request-notices">
          {!isGrouped && listed.error && (
            <LoadFailed what="the requests" error={listed.error} onRetry={listed.reload} />
          )}
          <NodesNotice machines={activity?.machines} />
          <Guide />
        </div>
        {isGrouped ? (
          <SessionList filter={asked} titles={titles} withSingle={query.has('single')} />
        ) : (
          <List listed={listed} id={id} filter={filter} sort={sort} />
        )}
      </Split>
    </>
  );
};

/** Narrower pages show one pane alone, as split.css says. */
const twoPanesPx = 1_000;

const none: readonly never[] = [];

const groups = [
  { value: 'none', label: 'Requests' },
  { value: 'session', label: 'Sessions' },
] as const;

const perSecondOf = ({ lines }: NonNullable<Listed['activity']>): number =>
  lines.reduce((sum, { perSecond }) => sum + perSecond, 0);

const Now = ({ inFlight, perSecond }: { readonly inFlight: number; readonly perSecond: number }) => (
  <>
    {count(inFlight)} in flight · {rate(perSecond)}/s
  </>
);

/** How many of those in flight have rows. */
const mostRunning = 5;

/** The list. New rows wait while someone reads it: what is under the pointer stays. */
const List = ({
  listed: { live, older, activity, hasMore, readMore, isReading, olderError, error },
  id,
  filter,
  sort,
}: {
  readonly listed: Listed;
  readonly sort: string;
  readonly id: string | undefined;
  readonly filter: RequestFilter;
}) => {
  const isFiltered = Object.keys(givenIn(filter)).length > 0;
  const region = useRef<HTMLDivElement>(null);
  const reading = useReading(region);
  const [still, setStill] = useState<Still>();
  const inFlight = activity?.inFlight ?? none;
  // Another filter is another list.
  const held = reading && still?.filter === filter && still.sort === sort ? still : undefined;
  const running = isFiltered || sort !== '' ? none : (held?.running ?? inFlight.slice(0, mostRunning));
  const ended = held?.live ?? live;
  if (reading && live && !held) setStill({ filter, sort, live, running });
  if (!reading && still) setStill(undefined);
  const rows = useMemo(
    (): readonly RequestRow[] => [
      ...running.map((request) => ({ type: 'running', request }) as const),
      ...[...(ended ?? none), ...older].map((request) => ({ type: 'ended', request }) as const),
    ],
    [running, ended, older],
  );
  const shown = useMemo(() => rows.flatMap(endedOf), [rows]);
  useNeighbours(shown);
  const fresh = held && live ? live.findIndex(({ n }) => n === held.live[0]?.n) : 0;
  const waiting = fresh < 0 ? (live?.length ?? 0) : fresh;
  return (
    <div ref={region} className="request-list">
      {!live && error === undefined && <Loading what="requests" />}
      {waiting > 0 && (
        <p className="request-fresh">
          <Button
            onClick={(event) => {
              setStill({ filter, sort, live: live ?? none, running: inFlight.slice(0, mostRunning) });
              window.scrollTo(0, 0);
              // By a key: the focus, which the button takes with it, stays in the list.
              if (event.detail === 0) region.current?.querySelector('section')?.focus();
            }}
          >
            {count(waiting)} new
          </Button>
        </p>
      )}
      <DataTable
        lines
        label="Request list"
        columns={requestColumns}
        rows={rows}
        rowKey={({ request }) => request.id}
        open={(row) => (row.type === 'ended' ? requestAddress(row.request) : undefined)}
        current={({ request }) => request.id === id}
        sort={sort}
        onSort={(name) => changeQuery({ sort: name })}
        empty={live && !isReading && !hasMore && <Nothing isFiltered={isFiltered} />}
      />
      <More hasMore={hasMore} isReading={isReading} error={olderError} onMore={readMore} />
    </div>
  );
};

/** The rows as they were when reading began. */
interface Still {
  readonly filter: RequestFilter;
  readonly sort: string;
  readonly live: readonly ListedRequest[];
  readonly running: NonNullable<Listed['activity']>['inFlight'];
}

const endedOf = (row: RequestRow): readonly ListedRequest[] => (row.type === 'ended' ? [row.request] : []);

/** `j` and `k` go through the list, as it is shown. */
const useNeighbours = (shown: readonly ListedRequest[]): void => {
  const go = (step: number): void => {
    // The page follows the address later: the next key may come before it does.
    const [, id] = parseHash(window.location.hash).segments;
    const next = shown[shown.findIndex((one) => one.id === id) + step];
    if (next) navigate(requestAddress(next));
  };
  useShortcut('j', 'Next request in the list', () => go(1));
  useShortcut('k', 'Previous request in the list', () => go(-1));
};

/** The end of the list: what is older is read when it comes into sight. */
const More = ({
  hasMore,
  isReading,
  error,
  onMore,
}: {
  readonly hasMore: boolean;
  readonly isReading: boolean;
  readonly error: string | undefined;
  readonly onMore: () => void;
}) => {
  const end = useRef<HTMLDivElement>(null);
  const more = useRef(onMore);
  more.current = onMore;
  const isOn = hasMore && !isReading && error === undefined;
  useEffect(() => {
    if (!end.current || !isOn) return undefined;
    const seen = new IntersectionObserver(([entry]) => entry?.isIntersecting && more.current(), {
      rootMargin: '400px',
    });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [isOn]);
  return (
    <div ref={end} className="request-more soft small">
      {error !== undefined && <LoadFailed what="older requests" error={error} onRetry={onMore} />}
      {isReading && <span role="status">Loading older requests…</span>}
    </div>
  );
};

const Nothing = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty
      title="No requests match the filters"
      actions={<Button onClick={() => changeQuery(noQuery)}>Show all</Button>}
    />
  ) : (
    <Empty title="No requests yet" actions={<a href={href('/playground')}>Send one from the playground</a>}>
      Requests appear here while they run. <a href={href('/clients')}>Clients</a> says how to set up a tool.
    </Empty>
  );
