import type { Across, Metric } from '../../observe/metric.ts';

/** One process's figures of the fleet that it belongs to. */
interface FleetFigures {
  readonly isUp: boolean;
  readonly seconds: number;
  readonly members: number;
  readonly strangers: number;
  readonly clockOffSeconds: number;
  readonly leases: number;
  readonly byShare: number;
}

/** Metrics of what several machines share. */
export const fleetMetrics = (figures: () => FleetFigures): readonly Metric[] =>
  rows.map(([type, name, help, value, across]) => ({
    type,
    name,
    help,
    across,
    labelNames: [],
    samples: () => [{ labels: [], value: Number(value(figures())) }],
  }));

type Row = readonly [
  type: Metric['type'],
  name: string,
  help: string,
  value: (figures: FleetFigures) => number | boolean,
  across: Across,
];

const rows: readonly Row[] = [
  ['gauge', 'store_up', 'Whether the store of the fleet answers.', ({ isUp }) => isUp, 'min'],
  ['gauge', 'store_seconds', 'How long the last exchange with the store took.', ({ seconds }) => seconds, 'max'],
  ['gauge', 'fleet_members', 'Processes of the fleet.', ({ members }) => members, 'max'],
  ['gauge', 'fleet_strangers', 'Processes with another key than this one.', ({ strangers }) => strangers, 'max'],
  ['gauge', 'store_clock_seconds', "This machine's clock, ahead of the store's.", (now) => now.clockOffSeconds, 'max'],
  ['counter', 'limits_by_share_total', 'Requests that a share of a limit admitted.', ({ byShare }) => byShare, 'sum'],
  ['counter', 'leases_total', 'Blocks of limits that the store granted.', ({ leases }) => leases, 'sum'],
];
