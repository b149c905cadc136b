import { useEffect, useMemo, useRef, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { type Protocol, protocols, protocolTitles } from '../../api/protocols.ts';
import { browsed } from '../../api/requests/browsed-requests.ts';
import { clearRequests, hasFailed, type RequestSummary } from '../../api/requests/requests.ts';
import { count, counted } from '../../format/count.ts';
import { timeOfDay } from '../../format/time.ts';
import { Button } from '../../parts/controls/button.tsx';
import { SelectField, TextField } from '../../parts/controls/field.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import '../../parts/table/filters.css';
import { Panel } from '../../parts/layout/panel.tsx';
import { columnsFor } from '../../parts/table/request-columns.tsx';
import { ShowMore } from '../../parts/table/show-more.tsx';
import { useReading } from '../../parts/table/use-reading.ts';
import { changeQuery, href } from '../../router/route.ts';
import { confirm } from '../../shell/dialogs/confirm.ts';
import { toast } from '../../shell/toast.ts';
import { createStore, useStore } from '../../state/store.ts';
import {
  filterIn,
  filterQuery,
  noFilter,
  passes,
  type RequestFilter,
  statuses,
  statusTitles,
} from './request-filter.ts';

/** How many rows are shown at first: the page stays short. */
const firstRows = 25;

/** The paused list, if it is; it stays while other pages are shown. Moving rows can't be read. */
const paused = createStore<readonly RequestSummary[] | undefined>(undefined);

/** The last finished requests, with filters. */
export const RequestsPanel = ({
  requests,
  query,
  onForget,
}: {
  readonly requests: readonly RequestSummary[] | undefined;
  /** Holds the filters. */
  readonly query: URLSearchParams;
  /** Called after the list was cleared. */
  readonly onForget: () => void;
}) => {
  const filter = useMemo(() => filterIn(query), [query]);
  const setFilter = (next: RequestFilter): void => changeQuery(filterQuery(next));
  const shown = Math.max(firstRows, Number(query.get('rows')) || 0);
  const held = useStore(paused);
  const rows = useRef<HTMLDivElement>(null);
  const [still, setStill] = useStillRows(useReading(rows), requests);
  const list = held ?? still ?? requests ?? none;
  const found = useMemo(() => list.filter((request) => passes(request, filter)), [list, filter]);
  const columns = useMemo(() => columnsFor(list, timeOfDay), [list]);
  useEffect(() => browsed.set({ title: 'Overview', address: window.location.hash, requests: found }), [found]);
  const all = counted(list.length, 'request');
  const fresh = useMemo(() => {
    if (!requests || list === requests) return 0;
    const known = new Set(list.map(rowKey));
    return requests.filter((request) => !known.has(rowKey(request)) && passes(request, filter)).length;
  }, [requests, list, filter]);
  return (
    <Panel
      title="Recent requests"
      flush
      about={requests && (found.length === list.length ? all : `${count(found.length)} of ${all}`)}
      actions={
        <>
          <Button
            icon={held ? 'play' : 'stop'}
            aria-pressed={held !== undefined}
            onClick={() => paused.set(held ? undefined : list)}
          >
            {held ? `Resume${fresh > 0 ? ` (${count(fresh)} new)` : ''}` : 'Pause'}
          </Button>
          <Button
            look="quiet"
            icon="remove"
            disabled={list.length === 0}
            onClick={() =>
              void forget().then((done) => {
                if (!done) return;
                paused.set(undefined);
                setStill(undefined);
                onForget();
              })
            }
          >
            Clear list
          </Button>
        </>
      }
    >
      <Filters requests={list} filter={filter} onChange={setFilter} />
      <div ref={rows}>
        {!held && fresh > 0 && (
          <p className="fresh-rows">
            <Button
              onClick={({ detail }) => {
                setStill(requests);
                const top = rows.current?.getBoundingClientRect().top ?? 0;
                if (top < 0) rows.current?.scrollIntoView({ block: 'start' });
                // Pressed by key: the focus would be lost with the button.
                if (detail === 0) rows.current?.querySelector<HTMLElement>('section')?.focus();
              }}
            >
              {count(fresh)} new
            </Button>
          </p>
        )}
        <DataTable
          label="Request list"
          columns={columns}
          rows={found.slice(0, shown)}
          rowKey={rowKey}
          open={({ id }) => href('/requests', id)}
          tone={(request) => (hasFailed(request) ? 'bad' : undefined)}
          empty={requests && <Nothing isFiltered={list.length > 0} onReset={() => setFilter(noFilter)} />}
        />
      </div>
      <ShowMore shown={shown} of={found.length} onMore={() => changeQuery({ rows: String(shown * 4) })} />
    </Panel>
  );
};

const none: readonly RequestSummary[] = [];

const rowKey = ({ n, id }: RequestSummary): string => `${n} ${id}`;

/** The rows as they were when reading began, while someone reads them. */
const useStillRows = (reading: boolean, requests: readonly RequestSummary[] | undefined) => {
  const [still, setStill] = useState<readonly RequestSummary[]>();
  if (reading ? still === undefined && requests : still) setStill(reading ? requests : undefined);
  return [still, setStill] as const;
};

/** Whether the user confirmed and it worked. */
const forget = async (): Promise<boolean> => {
  const sure = await confirm({
    title: 'Clear the request list?',
    text: 'Finished requests leave this list, and recordings are removed from memory. The history keeps the requests; Settings → History deletes it.',
    yes: 'Clear list',
    danger: true,
  });
  if (!sure) return false;
  try {
    await clearRequests();
    toast('Request list cleared.');
    return true;
  } catch (error) {
    toast(wordError(error), 'failed');
    return false;
  }
};

const Nothing = ({ isFiltered, onReset }: { readonly isFiltered: boolean; readonly onReset: () => void }) =>
  isFiltered ? (
    <Empty title="No requests match the filters" actions={<Button onClick={onReset}>Show all</Button>} />
  ) : (
    <Empty title="No requests yet" actions={<a href={href('/playground')}>Send one from the playground</a>}>
      Finished requests appear here. See <a href={href('/clients')}>Connect</a> to set up a client.
    </Empty>
  );

const Filters = ({
  requests,
  filter,
  onChange,
}: {
  readonly requests: readonly RequestSummary[];
  readonly filter: RequestFilter;
  readonly onChange: (filter: RequestFilter) => void;
}) => (
  <search className="filters">
    <TextField
      className="filters-text"
      label="Search"
      type="search"
      placeholder="Id, model, path, error"
      value={filter.text}
      onChange={(text) => onChange({ ...filter, text })}
    />
    <SelectField
      label="Protocol"
      value={filter.protocol}
      options={[anyValue, ...protocols.map((value: Protocol) => ({ value, label: protocolTitles[value] }))]}
      onChange={(protocol) => onChange({ ...filter, protocol })}
    />
    <SelectField
      label="Provider"
      value={filter.provider}
      options={[anyValue, ...namesIn(requests.map(({ provider }) => provider))]}
      onChange={(provider) => onChange({ ...filter, provider })}
    />
    <SelectField
      label="Scenario"
      value={filter.scenario}
      options={[anyValue, ...namesIn(requests.map(({ scenario }) => scenario))]}
      onChange={(scenario) => onChange({ ...filter, scenario })}
    />
    {requests.some(({ client }) => client !== undefined) && (
      <SelectField
        label="Client"
        value={filter.client}
        options={[anyValue, ...namesIn(requests.map(({ client }) => client))]}
        onChange={(client) => onChange({ ...filter, client })}
      />
    )}
    <SelectField
      label="Outcome"
      value={filter.status}
      options={[anyValue, ...statuses.map((value) => ({ value, label: statusTitles[value] }))]}
      onChange={(status) => onChange({ ...filter, status })}
    />
  </search>
);

const anyValue = { value: '', label: 'All' } as const;

const namesIn = (names: readonly (string | undefined)[]) =>
  [...new Set(names)]
    .flatMap((value) => (value === undefined ? [] : [{ value, label: value }]))
    .toSorted((one, other) => one.label.localeCompare(other.label));
