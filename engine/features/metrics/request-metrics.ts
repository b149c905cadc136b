import { keyRefusalsName } from '../../observe/families.ts';
import type { LossSeries } from '../../observe/loss-counter.ts';
import type { Metric } from '../../observe/metric.ts';
import { type Distribution, Tally } from '../record/series.ts';
import type { Counts } from './counts.ts';
import { histogramSamples } from './prometheus.ts';

/** Metrics of requests, and of losses, if given. */
export const requestMetrics = (
  counts: Counts,
  activeStreams: () => number,
  losses: (() => Iterable<LossSeries>) | undefined,
): readonly Metric[] => {
  const where = ['route', 'provider'];
  const tally = (name: string, help: string, labelNames: readonly string[], tallied: Tally): Metric => ({
    type: 'counter',
    name,
    help,
    labelNames,
    samples: () => tallied.rows(),
  });
  const distribution = (name: string, help: string, observed: Distribution, labelNames = where): Metric => ({
    type: 'histogram',
    name,
    help,
    labelNames,
    samples: () => histogramSamples(observed),
  });
  return [
    tally(
      'requests_total',
      'Requests for a model.',
      [...where, 'model', 'scenario', 'status', 'client'],
      counts.requests,
    ),
    tally('upstream_errors_total', 'Faults of upstreams.', ['provider', 'kind'], counts.upstreamErrors),
    tally('tokens_total', 'Tokens as upstreams count them.', ['provider', 'type', 'client'], counts.tokens),
    tally('retries_total', 'Calls made once more.', ['provider', 'reason'], counts.retries),
    tally('fallbacks_total', 'Requests that went to another destination.', ['from', 'to'], counts.fallbacks),
    tally('client_aborts_total', 'Requests whose client went before the end.', ['route'], counts.aborts),
    tally('config_reloads_total', 'Changes of the configuration.', ['result'], counts.reloads),
    tally(keyRefusalsName, 'Requests refused for their key.', ['reason'], counts.keyRefusals),
    ...(losses ? [lossMetric(losses)] : []),
    distribution('request_duration_seconds', "From a request's arrival to its end.", counts.durations),
    distribution(
      'time_to_first_token_seconds',
      "From a request's arrival to its answer's first byte.",
      counts.firstBytes,
    ),
    distribution('overhead_seconds', 'Time to the first byte that the upstream had no part in.', counts.overheads),
    distribution('event_loop_hold_seconds', 'How long a step held the event loop, from 0.2 s on.', counts.stalls, [
      'step',
    ]),
    {
      type: 'gauge',
      name: 'streams_active',
      help: 'Streams going out.',
      labelNames: [],
      samples: () => [{ labels: [], value: activeStreams() }],
    },
  ];
};

/** Sums up series, since a source may report a field more than once. */
const lossMetric = (losses: () => Iterable<LossSeries>): Metric => ({
  type: 'counter',
  name: 'losses_total',
  help: 'Fields that a conversion could not carry.',
  labelNames: ['stage', 'field'],
  samples() {
    const tally = new Tally();
    for (const { stage, field, count } of losses()) tally.add([stage, field], count);
    return tally.rows();
  },
});
