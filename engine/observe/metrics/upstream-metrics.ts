import type { Registry } from 'prom-client';
import type { UpstreamState } from '../../upstream/health/show-health.ts';
import { showLevels, showTally } from './prometheus.ts';
import type { Series } from './series.ts';

/** Metric values of breaker states. */
const breakerLevels = { closed: 0, 'half-open': 1, open: 2 } as const;

/** Registers metrics of upstream states, read on each scrape. */
export const showUpstreams = (registry: Registry, states: () => Iterable<UpstreamState>): void => {
  const perProvider = (level: (state: UpstreamState) => number) => (): Iterable<Series<number>> =>
    [...states()].map((state) => ({ labels: [state.provider], value: level(state) }));
  const show = (name: string, help: string, level: (state: UpstreamState) => number): void =>
    showLevels(registry, { name, help, labelNames: ['provider'] }, perProvider(level));
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
  const tally = (name: string, help: string, total: (state: UpstreamState) => number): void =>
    showTally(
      registry,
      { name, help, labelNames: ['provider'] },
      {
        get rows() {
          return [...states()].map((state) => ({ labels: [state.provider], value: { count: total(state) } }));
        },
      },
    );
  tally('upstream_queue_refusals_total', 'Calls that got no connection.', ({ connections }) => connections.refused);
  tally('upstream_resends_total', 'Calls sent again after a reset.', ({ connections }) => connections.resent);
};
