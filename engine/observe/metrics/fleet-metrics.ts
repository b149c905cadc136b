import type { Metric } from './prometheus.ts';

/** What a process can say of the fleet that it belongs to. */
export interface FleetFigures {
  readonly isUp: boolean;
  readonly seconds: number;
  readonly members: number;
  readonly strangers: number;
  readonly clockOffSeconds: number;
  readonly leases: number;
  readonly byShare: number;
}

/** Metrics of what several machines share. */
export const fleetMetrics = (figures: () => FleetFigures): readonly Metric[] => {
  const one = (
    { type, name, help, across = 'sum' }: Pick<Metric, 'type' | 'name' | 'help' | 'across'>,
    value: (figures: FleetFigures) => number,
  ): Metric => ({
    type,
    name,
    help,
    across,
    labelNames: [],
    samples: () => [{ labels: [], value: value(figures()) }],
  });
  return [
    one(
      { type: 'gauge', name: 'store_up', help: 'Whether the store of the fleet answers.', across: 'min' },
      ({ isUp }) => Number(isUp),
    ),
    one(
      { type: 'gauge', name: 'store_seconds', help: 'How long the last exchange with the store took.', across: 'max' },
      ({ seconds }) => seconds,
    ),
    one(
      { type: 'gauge', name: 'fleet_members', help: 'Processes of the fleet.', across: 'max' },
      ({ members }) => members,
    ),
    one(
      { type: 'gauge', name: 'fleet_strangers', help: 'Processes with another key than this one.', across: 'max' },
      ({ strangers }) => strangers,
    ),
    one(
      {
        type: 'gauge',
        name: 'store_clock_seconds',
        help: "This machine's clock, ahead of the store's.",
        across: 'max',
      },
      ({ clockOffSeconds }) => clockOffSeconds,
    ),
    one(
      { type: 'counter', name: 'limits_by_share_total', help: 'Requests that a share of a limit admitted.' },
      ({ byShare }) => byShare,
    ),
    one(
      { type: 'counter', name: 'leases_total', help: 'Blocks of limits that the store granted.' },
      ({ leases }) => leases,
    ),
  ];
};
