import type { LossSeries } from '../../observer.ts';
import { histogramSamples, type Metric } from './prometheus.ts';
import { Distribution, Tally } from './series.ts';

/** Bucket bounds for complete answers, in seconds. */
const answerSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];
const firstByteSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];
const overheadSeconds = [0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024];

/** All counters of the service. */
export class Counts {
  readonly requests = new Tally();
  readonly upstreamErrors = new Tally();
  readonly tokens = new Tally();
  readonly retries = new Tally();
  readonly fallbacks = new Tally();
  readonly aborts = new Tally();
  readonly reloads = new Tally();
  readonly durations = new Distribution(answerSeconds);
  readonly firstBytes = new Distribution(firstByteSeconds);
  readonly overheads = new Distribution(overheadSeconds);
  streams = 0;

  /** All of them as metrics. */
  metrics(losses: (() => Iterable<LossSeries>) | undefined): readonly Metric[] {
    const where = ['route', 'provider'];
    const tally = (name: string, help: string, labelNames: readonly string[], counts: Tally): Metric => ({
      type: 'counter',
      name,
      help,
      labelNames,
      samples: () => counts.rows(),
    });
    const distribution = (name: string, help: string, observed: Distribution): Metric => ({
      type: 'histogram',
      name,
      help,
      labelNames: where,
      samples: () => histogramSamples(observed),
    });
    return [
      tally(
        'requests_total',
        'Requests for a model.',
        [...where, 'model', 'scenario', 'status', 'client'],
        this.requests,
      ),
      tally('upstream_errors_total', 'Faults of upstreams.', ['provider', 'kind'], this.upstreamErrors),
      tally('tokens_total', 'Tokens as upstreams count them.', ['provider', 'type', 'client'], this.tokens),
      tally('retries_total', 'Calls made once more.', ['provider', 'reason'], this.retries),
      tally('fallbacks_total', 'Requests that went to another destination.', ['from', 'to'], this.fallbacks),
      tally('client_aborts_total', 'Requests whose client went before the end.', ['route'], this.aborts),
      tally('config_reloads_total', 'Changes of the configuration.', ['result'], this.reloads),
      ...(losses ? [lossMetric(losses)] : []),
      distribution('request_duration_seconds', "From a request's arrival to its end.", this.durations),
      distribution(
        'time_to_first_token_seconds',
        "From a request's arrival to its answer's first byte.",
        this.firstBytes,
      ),
      distribution('overhead_seconds', 'Time to the first byte that the upstream had no part in.', this.overheads),
      {
        type: 'gauge',
        name: 'streams_active',
        help: 'Streams going out.',
        labelNames: [],
        samples: () => [{ labels: [], value: this.streams }],
      },
    ];
  }
}

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
