import { performance } from 'node:perf_hooks';
import type { LossSeries } from '../loss-counter.ts';
import type { UpstreamState } from '../retry/upstream-state.ts';
import { Counts } from './counts.ts';
import { Meter } from './meter.ts';
import { processMetrics } from './process-metrics.ts';
import type { RequestMeter } from './request-meter.ts';
import { showUpstreams } from './show-upstreams.ts';

/** The service's counters. */
export interface Metrics {
  /** A request for a model has come: `route` is the client protocol's name. */
  readonly started: (route: string) => RequestMeter;
  /** The configuration was read anew. */
  readonly reloaded: (result: 'applied' | 'invalid') => void;
  /** All of them as Prometheus reads them, and the media type of that text. */
  readonly scrape: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

/** What counters need of the world. */
export interface MetricsOptions {
  /** Losses so far; absent: nobody counts them. */
  readonly losses?: () => Iterable<LossSeries>;
  /** How upstreams stand; absent: nobody watches them. */
  readonly upstreams?: () => Iterable<UpstreamState>;
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs?: () => number;
}

/** Counters with a memory of their own; plain numbers until somebody asks for them. */
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
