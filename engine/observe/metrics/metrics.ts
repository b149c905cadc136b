import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { LossSeries } from '../../observer.ts';
import type { UpstreamState } from '../../upstream/health/show-health.ts';
import { Counts } from './counts.ts';
import { Meter } from './meter.ts';
import { renderMetrics } from './prometheus.ts';
import { upstreamMetrics } from './upstream-metrics.ts';

/** The service's metrics. */
export interface Metrics {
  /** Starts measuring a model request; `route` is the client protocol's name. */
  readonly started: (route: string) => Meter;
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
  const counts = new Counts();
  const metrics = [...counts.metrics(losses), ...(upstreams ? upstreamMetrics(upstreams) : [])];
  return {
    started: (route) => new Meter(counts, route, nowMs),
    reloaded: (result) => counts.reloads.add([result]),
    async scrape() {
      const shared = processMetrics();
      return { text: `${renderMetrics(metrics)}\n${await shared.metrics()}`, contentType: shared.contentType };
    },
  };
};

let registry: Registry | undefined;

/**
 * Metrics of this process: CPU, memory, event loop, garbage collection. Shared by all services of a process, since
 * prom-client's observers, once started, never stop.
 */
const processMetrics = (): Registry => {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
};
