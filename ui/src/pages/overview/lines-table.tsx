import { type Protocol, protocols, protocolTitles } from '../../api/protocols.ts';
import type { Activity } from '../../api/requests/activity.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { count, rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { Empty } from '../../parts/layout/empty.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { Lamp } from '../../parts/text/badge.tsx';
import { DestinationName } from '../../parts/text/destination-name.tsx';
import { WholeNames } from '../../parts/text/whole-names.tsx';
import { type Destination, nameOf, type Traffic, toneOf, trafficOn, waysTo } from './lines.ts';

interface Line {
  readonly protocol: Protocol;
  readonly destination: Destination;
  readonly traffic: Traffic;
}

/** The drawing as a table: one row per client protocol and destination. */
export const LinesTable = ({
  destinations,
  activity,
  requests,
  protocol,
}: {
  readonly destinations: readonly Destination[];
  readonly activity: Activity | undefined;
  readonly requests: readonly RequestSummary[];
  readonly protocol: Protocol | undefined;
}) => {
  const lines = destinations.flatMap((destination) =>
    protocols
      .filter((name) => protocol === undefined || name === protocol)
      .map(
        (name): Line => ({
          protocol: name,
          destination,
          traffic: trafficOn(activity, requests, { protocol: name, to: destination }),
        }),
      ),
  );
  return (
    <DataTable
      label="Table of lines"
      columns={columns}
      rows={lines}
      rowKey={(line) => `${line.protocol} ${nameOf(line.destination)}`}
      empty={<Empty title="No lines" />}
    />
  );
};

const columns: readonly Column<Line>[] = [
  { name: 'from', title: 'From', cell: ({ protocol }) => protocolTitles[protocol] },
  {
    name: 'to',
    title: 'To',
    cell: ({ destination, traffic }) => (
      <Lamp tone={toneOf(traffic, destination.fault)}>
        <DestinationName {...destination} />
      </Lamp>
    ),
  },
  {
    name: 'routes',
    title: 'Routes',
    cell: ({ destination }) => (
      <span className="data-name" title={waysTo(destination)}>
        <WholeNames text={waysTo(destination)} />
      </span>
    ),
  },
  { name: 'way', title: 'Path', cell: (line) => <span className="line-path">{pathOf(line)}</span> },
  { name: 'active', title: 'In flight', numeric: true, cell: ({ traffic }) => count(traffic.active) },
  { name: 'rate', title: 'Per second', numeric: true, cell: ({ traffic }) => rate(traffic.perSecond) },
  { name: 'first', title: 'First byte', numeric: true, cell: ({ traffic }) => maybe(traffic.firstByteMs) },
  { name: 'duration', title: 'Duration', numeric: true, cell: ({ traffic }) => maybe(traffic.durationMs) },
  { name: 'requests', title: 'Requests', numeric: true, cell: ({ traffic }) => count(traffic.requests) },
  { name: 'errors', title: 'Failed', numeric: true, cell: ({ traffic }) => count(traffic.errors) },
  {
    name: 'losses',
    title: 'Losses',
    about: 'Fields lost in conversion',
    numeric: true,
    cell: ({ traffic }) => count(traffic.losses),
  },
];

const maybe = (ms: number | undefined): string => (ms === undefined ? '–' : duration(ms));

function pathOf({ protocol, destination: { graphs, fault } }: Line): string {
  if (fault !== undefined) return fault;
  const graph = graphs.find(({ client }) => client === protocol);
  if (!graph) return '–';
  const stages = graph.nodes.filter(({ step }) => step === 'stage-request').map(({ name }) => name);
  const passes = graph.passThrough.request.open ? ['pass-through where possible'] : [];
  return [...passes, ...stages, graph.format.name].join(' → ');
}
