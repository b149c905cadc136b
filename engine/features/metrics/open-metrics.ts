import type { Feature } from '../../feature.ts';
import { createMetrics, type Metrics, type MetricsOptions } from './metrics.ts';

/** Counts requests, and renders what is counted anywhere in the service. */
export const openMetrics = (options: MetricsOptions = {}): { readonly metrics: Metrics; readonly feature: Feature } => {
  const metrics = createMetrics(options);
  const publishing = options.shared && setInterval(() => metrics.publish(), publishMs).unref();
  const feature: Feature = {
    listener: metrics.listener,
    families: metrics.families,
    reloaded: () => metrics.reloaded('applied'),
    keyRefused: (reason) => metrics.keyRefused(reason),
    async close() {
      clearInterval(publishing);
      await metrics.publishAll();
    },
  };
  return { metrics, feature };
};

/** Interval at which a process sends its metrics, in milliseconds. If it is killed, newer counts are lost. */
const publishMs = 1_000;
