import { type ReactNode, useCallback, useEffect, useMemo } from 'react';
import { browsed } from '../../api/requests/browsed-requests.ts';
import type { KeptRequest } from '../../api/requests/history.ts';
import { hasFailed } from '../../api/requests/requests.ts';
import { readSession, type Session } from '../../api/requests/sessions.ts';
import { useLoad } from '../../api/use-load.ts';
import { count, counted } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { dayAndTime, timeOfDay } from '../../format/time.ts';
import { tokens } from '../../format/tokens.ts';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ScrollRegion } from '../../parts/layout/scroll-region.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { requestAddress } from '../../parts/table/request-address.ts';
import { columnsFor } from '../../parts/table/request-columns.tsx';
import { href } from '../../router/route.ts';
import { costOf } from './session-figures.ts';

/** How often the session is read, in milliseconds. */
const everyMs = 10_000;

/** One session: its sums, its way through the models, and its requests. */
export const SessionView = ({ id }: { readonly id: string }) => {
  const { data, error, reload } = useLoad(
    useCallback((signal) => readSession(id, signal), [id]),
    everyMs,
  );
  const requests = data?.requests ?? none;
  // The newest is the first of a list that is browsed.
  useEffect(
    () => browsed.set({ title: 'Session', address: window.location.hash, requests: requests.toReversed() }),
    [requests],
  );
  const columns = useMemo(() => columnsFor(requests, timeOfDay), [requests]);
  return (
    <>
      <nav className="row" aria-label="Sessions">
        <a href={href('/sessions')}>← Sessions</a>
      </nav>
      <PageBar
        title={<span className="mono">{id}</span>}
        about={data && `${dayAndTime(data.session.startedAt)} to ${dayAndTime(data.session.endedAt)}`}
        actions={<CopyButton text={id} label="Copy id" />}
      />
      {error && <LoadFailed what="the session" error={error} onRetry={reload} />}
      {!data && !error && <Loading what="session" />}
      {data?.truncated && (
        <Notice kind="warn">Only the newest requests of this session are shown and summed up.</Notice>
      )}
      {data && (
        <>
          <Totals session={data.session} />
          <Way session={data.session} />
          <Panel title="Requests" about="In the order in which they began" flush>
            <DataTable
              label="Requests of the session"
              columns={columns}
              rows={requests}
              rowKey={({ n, id: one }) => `${n} ${one}`}
              open={requestAddress}
              tone={(request) => (hasFailed(request) ? 'bad' : undefined)}
              empty={null}
            />
          </Panel>
        </>
      )}
    </>
  );
};

const none: readonly KeptRequest[] = [];

const Totals = ({ session }: { readonly session: Session }) => {
  const { client, turns, requests, failed, busyMs, startedAt, endedAt, tools, usage } = session;
  return (
    <Panel title="Totals">
      <dl className="session-sums">
        <Fact title="Turns">
          {count(turns)}{' '}
          <small>
            {counted(requests, 'request')}
            {failed > 0 && `, ${count(failed)} failed`}
          </small>
        </Fact>
        <Fact title="Time">
          {duration(endedAt - startedAt)} <small>{duration(busyMs)} in requests</small>
        </Fact>
        <Fact title="Tokens">{tokens(usage)}</Fact>
        <Fact title="Cost">{costOf(session)}</Fact>
        <Fact title="Tools called">
          {tools.map(({ name, calls }) => `${name} ${count(calls)}×`).join(', ') || 'none'}
        </Fact>
        {client !== undefined && <Fact title="Client">{client}</Fact>}
      </dl>
    </Panel>
  );
};

const Fact = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

/** The models in order, with what sent the requests there. */
const Way = ({ session: { models } }: { readonly session: Session }) => (
  <Panel title="Models" about="In order; a new line where the model changes">
    <ScrollRegion className="session-models" label="Models">
      <ol className="session-way" aria-label="Models in order">
        {models.map(({ provider, model, scenario, startedAt, requests }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same model may come again; the order is what is shown
          <li key={index}>
            <span className="soft">{timeOfDay(startedAt)}</span> <strong>{`${provider}, ${model}`}</strong>{' '}
            <span className="soft">
              {scenario !== undefined && `${scenario}, `}
              {counted(requests, 'request')}
            </span>
          </li>
        ))}
      </ol>
    </ScrollRegion>
  </Panel>
);
