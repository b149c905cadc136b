import type { Feature } from '../../feature.ts';
import { createMetrics, type Metrics, type MetricsOptions } from './metrics.ts';

/** The metrics as a feature, for the features and processes that ask it. */
interface MetricsFeature extends Feature {
  readonly metrics: Metrics;
}

/** Counts requests, and renders what is counted anywhere in the service. */
export const openMetrics = (options: MetricsOptions = {}): MetricsFeature => {
  const metrics = createMetrics(options);
  const telling = options.shared && setInterval(() => metrics.tell(), tellMs).unref();
  return {
    metrics,
    watch: metrics.started,
    reloaded: () => metrics.reloaded('applied'),
    keyRefused: (reason) => metrics.keyRefused(reason),
    async close() {
      clearInterval(telling);
      await metrics.tellAll();
    },
  };
};

/** Interval at which a process sends its metrics, in milliseconds. If it is killed, newer counts are lost. */
const tellMs = 1_000;
