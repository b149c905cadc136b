import { readdirSync, readFileSync } from 'node:fs';
import {
  constants,
  type IntervalHistogram,
  monitorEventLoopDelay,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import type { Family } from '../../observe/families.ts';
import type { Metric } from '../../observe/metric.ts';
import { Distribution } from '../record/series.ts';
import { familyOf, histogramSamples } from './prometheus.ts';

/**
 * Metrics of this process: processor time, memory, event loop, garbage collection. Their names are those that dashboards for Node.js
 * show. Sources: Prometheus, "Writing client libraries", "Process metrics"; prom-client, "Default metrics".
 */
export const processFamilies = async (): Promise<readonly Family[]> => {
  watch ??= startWatch();
  const { delay, collections } = watch;
  const { user, system } = process.cpuUsage();
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const spaces = getHeapSpaceStatistics();
  const space = (what: string, value: (one: (typeof spaces)[number]) => number): Metric =>
    rows(
      `nodejs_heap_space_size_${what}_bytes`,
      `Size of the heap's spaces: ${what}.`,
      'space',
      spaces.map((one) => [one.space_name.replace(/_space$/, ''), value(one)]),
    );
  const resources = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) resources.set(type, (resources.get(type) ?? 0) + 1);
  const metrics: readonly Metric[] = [
    counter('process_cpu_user_seconds_total', 'Processor time in user mode.', user / 1e6),
    counter('process_cpu_system_seconds_total', 'Processor time in system mode.', system / 1e6),
    counter('process_cpu_seconds_total', 'Processor time.', (user + system) / 1e6),
    gauge('process_start_time_seconds', 'Start of the process, since 1970.', performance.timeOrigin / 1e3, 'min'),
    gauge('process_resident_memory_bytes', 'Memory in RAM.', rss),
    ...ofLinux(),
    gauge('nodejs_eventloop_lag_seconds', 'How long a callback waits now.', await lagNow(), 'max'),
    ...lagsOf(delay),
    rows('nodejs_active_resources', 'What keeps the event loop alive.', 'type', [...resources]),
    gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', heapTotal),
    gauge('nodejs_heap_size_used_bytes', 'Used size of the heap.', heapUsed),
    gauge('nodejs_external_memory_bytes', 'Memory of objects outside the heap.', external),
    space('total', (one) => one.space_size),
    space('used', (one) => one.space_used_size),
    space('available', (one) => one.space_available_size),
    { ...rows('nodejs_version_info', 'Version of Node.js.', 'version', [[process.version, 1]]), across: 'max' },
    {
      type: 'histogram',
      name: 'nodejs_gc_duration_seconds',
      help: 'Garbage collections by kind.',
      labelNames: ['kind'],
      samples: () => histogramSamples(collections),
    },
  ];
  return metrics.map((metric) => familyOf(metric, ''));
};

const counter = (name: string, help: string, value: number): Metric => ({
  type: 'counter',
  name,
  help,
  labelNames: [],
  samples: () => [{ labels: [], value }],
});

const gauge = (name: string, help: string, value: number, across: Metric['across'] = 'sum'): Metric => ({
  ...counter(name, help, value),
  type: 'gauge',
  across,
});

/** A gauge with one label. */
const rows = (name: string, help: string, label: string, values: readonly (readonly [string, number])[]): Metric => ({
  type: 'gauge',
  name,
  help,
  labelNames: [label],
  samples: () => values.map(([text, value]) => ({ labels: [text], value })),
});

interface Watch {
  /** Delay of timers since the last scrape, in nanoseconds. */
  readonly delay: IntervalHistogram;
  /** Collections by kind, in seconds. */
  readonly collections: Distribution;
}

/** Of the process, so shared by all its services; begins with the first scrape. */
let watch: Watch | undefined;

const startWatch = (): Watch => {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const collections = new Distribution([0.001, 0.01, 0.1, 1, 2, 5]);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) collections.observe([kindOf(entry)], entry.duration / 1e3);
  }).observe({ entryTypes: ['gc'] });
  return { delay, collections };
};

const kinds: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

const kindOf = (entry: object): string => {
  const detail = 'detail' in entry ? entry.detail : undefined;
  return (typeof detail === 'object' && detail !== null && 'kind' in detail && kinds.get(detail.kind)) || 'other';
};

const lagNow = (): Promise<number> => {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    setImmediate(() => resolve((performance.now() - startedMs) / 1e3));
  });
};

const lagsOf = (delay: IntervalHistogram): readonly Metric[] => {
  const { min, max, mean, stddev } = delay;
  const lags = {
    min,
    max,
    mean,
    stddev,
    p50: delay.percentile(50),
    p90: delay.percentile(90),
    p99: delay.percentile(99),
  };
  // Without any observation, the mean is no number.
  const isSeen = !Number.isNaN(mean);
  delay.reset();
  return Object.entries(lags).map(([name, ns]) => {
    const help = `How late timers were since the last scrape: ${name}.`;
    return gauge(`nodejs_eventloop_lag_${name}_seconds`, help, isSeen ? ns / 1e9 : 0, name === 'min' ? 'min' : 'max');
  });
};

/** Figures of Linux alone. */
const ofLinux = (): readonly Metric[] => {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const kibOf = (pattern: RegExp): number => Number(pattern.exec(status)?.[1] ?? 0);
    const most = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return [
      gauge('process_virtual_memory_bytes', 'Size of the address space.', kibOf(/^VmSize:\s+(\d+)/m) * 1024),
      gauge('process_heap_bytes', 'Size of the data segment.', kibOf(/^VmData:\s+(\d+)/m) * 1024),
      gauge('process_open_fds', 'Open file descriptors.', readdirSync('/proc/self/fd').length - 1),
      ...(most === undefined ? [] : [gauge('process_max_fds', 'Most open file descriptors.', Number(most))]),
    ];
  } catch {
    return [];
  }
};
