import type { Registry } from 'prom-client';
import type { UpstreamState } from '../retry/upstream-state.ts';
import { showLevels, showTally } from './own-metrics.ts';
import type { Series } from './series.ts';

/** How a breaker's state is told as a number. */
const breakerLevels = { closed: 0, 'half-open': 1, open: 2 } as const;

/** Shows how upstreams stand at the moment of asking. */
export const showUpstreams = (registry: Registry, states: () => Iterable<UpstreamState>): void => {
  const each = (level: (state: UpstreamState) => number) => (): Iterable<Series<number>> =>
    [...states()].map((state) => ({ labels: [state.provider], value: level(state) }));
  const show = (name: string, help: string, level: (state: UpstreamState) => number): void =>
    showLevels(registry, { name, help, labelNames: ['provider'] }, each(level));
  showLevels(
    registry,
    {
      name: 'breaker_state',
      help: 'Whether a model is asked: 0 closed, 1 half open, 2 open.',
      labelNames: ['provider', 'model'],
    },
    () =>
      [...states()].flatMap(({ provider, models }) =>
        models
          .filter(({ listed }) => listed)
          .map(({ model, breaker }) => ({ labels: [provider, model], value: breakerLevels[breaker] })),
      ),
  );
  show('keys_resting', 'Keys that are left alone, for one model at least.', ({ keys, models }) => {
    const resting = new Set(keys.filter(({ rest }) => rest !== undefined).map(({ number }) => number));
    for (const model of models) for (const { number } of model.resting) resting.add(number);
    return resting.size;
  });
  show('upstream_connections', 'Connections in use.', ({ connections }) => connections.inUse);
  show('upstream_queue_length', 'Calls that wait for a connection.', ({ connections }) => connections.waiting);
  showTally(
    registry,
    {
      name: 'upstream_queue_refusals_total',
      help: 'Calls that got no connection.',
      labelNames: ['provider'],
    },
    {
      get rows() {
        return [...states()].map(({ provider, connections }) => ({
          labels: [provider],
          value: { count: connections.refused },
        }));
      },
    },
  );
};
