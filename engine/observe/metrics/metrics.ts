import { performance } from 'node:perf_hooks';
import type { LossSeries, Observer } from '../../observer.ts';
import type { UpstreamState } from '../../upstream/health/show-health.ts';
import { Counts } from './counts.ts';
import { Meter } from './meter.ts';
import { processMetrics } from './prometheus.ts';
import { showUpstreams } from './upstream-metrics.ts';

/** The service's metrics. */
export interface Metrics {
  /** Starts measuring a model request; `route` is the client protocol's name. */
  readonly started: (route: string) => Observer;
  /** Counts a reload of the configuration. */
  readonly reloaded: (result: 'applied' | 'invalid') => void;
  /** Renders all metrics in Prometheus's text format, with its media type. */
  readonly scrape: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

/** Sources of metrics. */
interface MetricsOptions {
  /** Losses so far; absent: no loss metrics. */
  readonly losses?: () => Iterable<LossSeries>;
  /** Upstream states; absent: no upstream metrics. */
  readonly upstreams?: () => Iterable<UpstreamState>;
  /** Monotonic clock, in milliseconds. */
  readonly nowMs?: () => number;
}

/** Creates independent metrics; they are rendered only on a scrape. */
export const createMetrics = ({ losses, upstreams, nowMs = () => performance.now() }: MetricsOptions = {}): Metrics => {
  const counts = new Counts(losses);
  if (upstreams) showUpstreams(counts.registry, upstreams);
  return {
    started: (route) => new Meter(counts, route, nowMs),
    reloaded: (result) => counts.reloads.add([result]),
    async scrape() {
      const shared = processMetrics();
      const texts = await Promise.all([counts.registry.metrics(), shared.metrics()]);
      return { text: texts.join('\n'), contentType: shared.contentType };
    },
  };
};
