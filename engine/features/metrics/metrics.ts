import { fail } from '../../model/fault.ts';
import { type Family, FamilyChanges, renderFamilies } from '../../observe/families.ts';
import type { LossSeries } from '../../observe/loss-counter.ts';
import type { Metric } from '../../observe/metric.ts';
import type { RequestRecord } from '../../request-record.ts';
import type { LoopStall } from '../../runtime/loop-watch.ts';
import type { UpstreamState } from '../../upstream/health/show-health.ts';
import { Counts } from './counts.ts';
import { processFamilies } from './process-metrics.ts';
import { familyOf } from './prometheus.ts';
import { requestMetrics } from './request-metrics.ts';
import { upstreamMetrics } from './upstream-metrics.ts';

/** The service's metrics. */
export interface Metrics {
  readonly listener: Counts['listener'];
  /** Counts a reload of the configuration. */
  readonly reloaded: (result: 'applied' | 'invalid') => void;
  /** Counts a request that was refused for its key. */
  readonly keyRefused: (reason: string) => void;
  /** Counts a time during which a step held the event loop. */
  readonly stalled: (stall: LoopStall) => void;
  /** The metrics of all processes of the service; those of this one if the others don't answer. */
  readonly families: () => Promise<readonly Family[]>;
  /** Tells the other processes of the service what has changed; does nothing if there are none. */
  readonly publish: () => void;
  /** The same, with memory, processor time and the like. */
  readonly publishAll: () => Promise<void>;
  /**
   * Renders all metrics in Prometheus's text format, with its media type: those of all processes of the service. Throws
   * `unavailable` if they can't be put together, since a part of them would look like counters that fell.
   */
  readonly scrape: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

/** Metrics of several processes, put together elsewhere. */
export interface SharedMetrics {
  /** Whether there are or were other processes. */
  readonly isShared: () => boolean;
  /** Tells what has changed here. */
  readonly publish: (changed: readonly Family[]) => void;
  /** The metrics of all processes; `undefined` if there is no answer in time. */
  readonly metrics: () => Promise<readonly Family[] | undefined>;
}

/** Sources of metrics. */
export interface MetricsOptions {
  /** The service's other processes; absent: there are never any. */
  readonly shared?: SharedMetrics | undefined;
  /** Losses so far; absent: no loss metrics. */
  readonly losses?: () => Iterable<LossSeries>;
  /** Upstream states; absent: no upstream metrics. */
  readonly upstreams?: () => Iterable<UpstreamState>;
  /** Metrics of all features. */
  readonly others?: () => readonly Metric[];
  /** The requests in flight. */
  readonly active?: Iterable<Pick<RequestRecord, 'isOpen'>>;
}

/** Creates independent metrics; they are rendered only on a scrape. */
export const createMetrics = ({
  losses,
  upstreams,
  shared,
  others = () => [],
  active = [],
}: MetricsOptions = {}): Metrics => {
  const counts = new Counts();
  const activeStreams = (): number => [...active].filter(({ isOpen }) => isOpen).length;
  const own = [...requestMetrics(counts, activeStreams, losses), ...(upstreams ? upstreamMetrics(upstreams) : [])];
  const families = (): readonly Family[] => [...own, ...others()].map((metric) => familyOf(metric));
  const changes = new FamilyChanges();
  const publish = (all: readonly Family[]): void => {
    if (shared?.isShared()) shared.publish(changes.since(all));
  };
  const publishAll = async (): Promise<void> => {
    if (!shared?.isShared()) return;
    publish([...families(), ...(await processFamilies())]);
  };
  return {
    listener: counts.listener,
    reloaded: (result) => counts.reloads.add([result]),
    keyRefused: (reason) => counts.keyRefusals.add([reason]),
    stalled: ({ step, ms }) => counts.stalls.observe([step], ms / 1000),
    async families() {
      const here = families();
      if (!shared?.isShared()) return here;
      await publishAll();
      return (await shared.metrics()) ?? here;
    },
    publish() {
      if (shared?.isShared()) publish(families());
    },
    publishAll,
    async scrape() {
      if (!shared?.isShared())
        return { text: renderFamilies([...families(), ...(await processFamilies())]), contentType };
      await publishAll();
      const all = await shared.metrics();
      if (!all) return fail('unavailable', "The service's main process doesn't answer, which adds up the metrics.");
      return { text: renderFamilies(all), contentType };
    },
  };
};

/** Source: Prometheus, "Exposition formats". */
const contentType = 'text/plain; version=0.0.4; charset=utf-8';
