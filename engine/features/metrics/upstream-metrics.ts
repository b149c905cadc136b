import type { Metric } from '../../observe/metric.ts';
import type { UpstreamState } from '../../upstream/health/show-health.ts';

/** Metric values of breaker states. */
const breakerLevels = { closed: 0, 'half-open': 1, open: 2 } as const;

/** Metrics of upstream states. */
export const upstreamMetrics = (states: () => Iterable<UpstreamState>): readonly Metric[] => {
  const perProvider = (
    type: Metric['type'],
    name: string,
    help: string,
    value: (state: UpstreamState) => number,
  ): Metric => ({
    type,
    name,
    help,
    labelNames: ['provider'],
    samples: () => [...states()].map((state) => ({ labels: [state.provider], value: value(state) })),
  });
  return [
    {
      type: 'gauge',
      name: 'breaker_state',
      help: 'Whether a model is asked: 0 closed, 1 half open, 2 open.',
      across: 'max',
      labelNames: ['provider', 'model'],
      samples: () =>
        [...states()].flatMap(({ provider, models }) =>
          models
            .filter(({ listed }) => listed)
            .map(({ model, breaker }) => ({ labels: [provider, model], value: breakerLevels[breaker] })),
        ),
    },
    {
      ...perProvider(
        'gauge',
        'keys_resting',
        'Keys that are left alone, for one model at least.',
        ({ keys, models }) => {
          const resting = new Set(keys.filter(({ rest }) => rest !== undefined).map(({ number }) => number));
          for (const model of models) for (const { number } of model.resting) resting.add(number);
          return resting.size;
        },
      ),
      across: 'max',
    },
    perProvider('gauge', 'upstream_connections', 'Connections in use.', ({ connections }) => connections.inUse),
    perProvider(
      'gauge',
      'upstream_queue_length',
      'Calls that wait for a connection.',
      ({ connections }) => connections.waiting,
    ),
    perProvider(
      'counter',
      'upstream_queue_refusals_total',
      'Calls that got no connection.',
      ({ connections }) => connections.refused,
    ),
    perProvider(
      'counter',
      'upstream_resends_total',
      'Calls resent because their reused connection was closed.',
      ({ connections }) => connections.resent,
    ),
  ];
};
