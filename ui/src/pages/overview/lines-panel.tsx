import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { readGraphs } from '../../api/config/graph.ts';
import { type Protocol, protocols, protocolTitles } from '../../api/protocols.ts';
import type { Activity } from '../../api/requests/activity.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { SelectField } from '../../parts/controls/field.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { useWidth } from '../../parts/layout/use-width.ts';
import { changeQuery, href, navigate } from '../../router/route.ts';
import { layOutLine } from './drawing/line-layout.ts';
import { type Destination, destinationsOf, nameOf, trafficOn } from './lines.ts';
import { LinesTable } from './lines-table.tsx';
import { overviewAddress, viewOf } from './overview-address.ts';
import { layOutOverview } from './overview-layout.ts';
import { Playback, requestsOf } from './playback.tsx';

const LineDrawing = lazy(async () => ({ default: (await import('./drawing/drawing.tsx')).LineDrawing }));

/** How often the graph is loaded, in milliseconds: any client may change the configuration. */
const graphEveryMs = 10_000;

/** The running graph: all lines or one, as a drawing or as a table. */
export const LinesPanel = ({
  activity: present,
  requests: recent,
  query,
}: {
  readonly activity: Activity | undefined;
  readonly requests: readonly RequestSummary[];
  readonly query: URLSearchParams;
}) => {
  const { protocol, line } = viewOf(query);
  const isBack = query.get('play') === 'hour';
  const [past, setPast] = useState<Activity>();
  const activity = past ?? present;
  const requests = useMemo(() => (past ? requestsOf(past, recent) : recent), [past, recent]);
  const form = query.get('view') === 'table' ? 'table' : 'drawing';
  const [room, width] = useWidth();
  const graphs = useLoad(
    useCallback((signal) => readGraphs({}, signal), []),
    graphEveryMs,
  );
  const destinations = destinationsOf(graphs.data ?? [], activity);
  const picked = destinations.find((one) => nameOf(one) === line);
  return (
    <Panel
      title="Lines"
      flush
      about={picked ? `Every step to ${picked.model} and back` : 'Where requests come from and where they go'}
      actions={
        <>
          <LinePicker destinations={destinations} line={picked && nameOf(picked)} protocol={protocol} />
          <ProtocolPicker protocol={protocol} line={picked && nameOf(picked)} />
          <Segmented
            label="Time"
            value={isBack ? 'hour' : 'live'}
            onChange={(time) => changeQuery({ play: time === 'hour' ? time : '' })}
            options={[
              { value: 'live', label: 'Live' },
              { value: 'hour', label: 'Last hour' },
            ]}
          />
          <Segmented
            label="View"
            value={form}
            onChange={(view) => changeQuery({ view: view === 'table' ? view : '' })}
            options={[
              { value: 'drawing', label: 'Drawing' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </>
      }
    >
      {isBack && <Playback onShow={setPast} />}
      {graphs.error && <LoadFailed what="the lines" error={graphs.error} onRetry={graphs.reload} />}
      {picked?.fault && (
        <Notice kind="failed" title="This line cannot serve requests">
          {picked.fault}
        </Notice>
      )}
      {graphs.data && destinations.length === 0 && (
        <Empty title="No routes yet" actions={<a href={href('/providers')}>Add a provider</a>}>
          A line appears here for each model that a route uses.
        </Empty>
      )}
      {form === 'table' ? (
        <LinesTable
          destinations={picked ? [picked] : destinations}
          activity={activity}
          requests={requests}
          protocol={protocol}
        />
      ) : (
        <div ref={room} className="lines-room">
          {width > 0 && graphs.data && destinations.length > 0 && (
            <Suspense fallback={null}>
              {picked ? (
                <OneLine destination={picked} {...{ activity, requests, protocol, width }} />
              ) : (
                <LineDrawing
                  label="Drawing of all lines. The table shows the same data."
                  drawing={layOutOverview({ destinations, activity, requests, protocol, width })}
                />
              )}
            </Suspense>
          )}
        </div>
      )}
    </Panel>
  );
};

const OneLine = ({
  destination,
  activity,
  requests,
  protocol = 'messages',
  width,
}: {
  readonly destination: Destination;
  readonly activity: Activity | undefined;
  readonly requests: readonly RequestSummary[];
  readonly protocol?: Protocol | undefined;
  readonly width: number;
}) => {
  const { provider, model } = destination;
  const known = destination.graphs.find(({ client }) => client === protocol);
  const isKnown = known !== undefined;
  // A line without a route isn't in the configured graphs.
  const asked = useLoad(
    useCallback(
      async (signal: AbortSignal) =>
        isKnown ? undefined : (await readGraphs({ client: protocol, provider, model }, signal))[0],
      [isKnown, protocol, provider, model],
    ),
  );
  const graph = known ?? asked.data;
  if (!graph) return asked.error ? <LoadFailed what="the line" error={asked.error} onRetry={asked.reload} /> : null;
  return (
    <LineDrawing
      label={`Drawing of the line from ${protocolTitles[protocol]} to ${provider}, ${model}, and back. The table shows its figures.`}
      drawing={layOutLine(graph, trafficOn(activity, requests, { protocol, to: destination }), width)}
    />
  );
};

const LinePicker = ({
  destinations,
  line,
  protocol,
}: {
  readonly destinations: readonly Destination[];
  readonly line: string | undefined;
  readonly protocol: Protocol | undefined;
}) => (
  <SelectField
    label="Line"
    unlabelled
    value={line ?? ''}
    options={[
      { value: '', label: 'All lines' },
      ...destinations.map((one) => ({ value: nameOf(one), label: `${one.provider} · ${one.model}` })),
    ]}
    onChange={(picked) => navigate(overviewAddress({ protocol, line: picked || undefined }))}
  />
);

const ProtocolPicker = ({
  protocol,
  line,
}: {
  readonly protocol: Protocol | undefined;
  readonly line: string | undefined;
}) => (
  <SelectField
    label="Client protocol"
    unlabelled
    // A single line is always drawn for one protocol.
    value={protocol ?? (line === undefined ? '' : 'messages')}
    options={[
      ...(line === undefined ? [{ value: '', label: 'All protocols' } as const] : []),
      ...protocols.map((value) => ({ value, label: protocolTitles[value] })),
    ]}
    onChange={(picked: Protocol | '') => navigate(overviewAddress({ protocol: picked || undefined, line }))}
  />
);
