import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client';
import type { Distribution, Observed, Series, Tally, LabelValues as Values } from './series.ts';

/** A metric's name without prefix, help text, and label names. */
interface MetricText<L extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
}

const prefix = 'switchyard_';

const configuration = <L extends string>({ name, help, labelNames }: MetricText<L>, registry: Registry) => ({
  name: prefix + name,
  help,
  labelNames,
  registers: [registry],
});

/** Registers a tally as a counter, read on each scrape. */
export const showTally = (registry: Registry, text: MetricText, tally: Pick<Tally, 'rows'>): void => {
  new Counter({
    ...configuration(text, registry),
    collect() {
      this.reset();
      for (const { labels, value } of tally.rows) this.inc(labelsOf(text.labelNames, labels), value.count);
    },
  });
};

/** Registers a gauge with labels, read on each scrape. */
export const showLevels = (registry: Registry, text: MetricText, levels: () => Iterable<Series<number>>): void => {
  new Gauge({
    ...configuration(text, registry),
    collect() {
      this.reset();
      for (const { labels, value } of levels()) this.set(labelsOf(text.labelNames, labels), value);
    },
  });
};

/** Registers a gauge without labels, read on each scrape. */
export const showLevel = (registry: Registry, text: MetricText<never>, level: () => number): void => {
  new Gauge({
    ...configuration(text, registry),
    collect() {
      this.set(level());
    },
  });
};

/** Registers a distribution as a histogram. */
export const showDistribution = (registry: Registry, text: MetricText, distribution: Distribution): void => {
  new DistributionHistogram(registry, text, distribution);
};

/** A histogram over existing buckets; prom-client's own can only observe single values. */
class DistributionHistogram extends Histogram {
  readonly #text: MetricText;
  readonly #distribution: Distribution;

  constructor(registry: Registry, text: MetricText, distribution: Distribution) {
    super({ ...configuration(text, registry), buckets: [...distribution.bounds] });
    this.#text = text;
    this.#distribution = distribution;
  }

  /** prom-client's registry calls this instead of `get`. */
  async getForPromString() {
    const { bounds, rows } = this.#distribution;
    const { name, help, labelNames } = this.#text;
    const values = [...rows].flatMap(({ labels, value }) =>
      valuesOf(prefix + name, bounds, labelsOf(labelNames, labels), value),
    );
    return { name: prefix + name, help, type: 'histogram', aggregator: 'sum', values };
  }
}

const valuesOf = (name: string, bounds: readonly number[], labels: LabelValues<string>, observed: Observed) => {
  let below = 0;
  const buckets = [...bounds, '+Inf'].map((le, index) => {
    below += observed.buckets[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: observed.sum },
    { metricName: `${name}_count`, labels, value: observed.count },
  ];
};

const labelsOf = (names: readonly string[], values: Values): LabelValues<string> =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));

let registry: Registry | undefined;

/**
 * Metrics of this process: CPU, memory, event loop, garbage collection. Shared by all services of a process, since
 * prom-client's observers, once started, never stop.
 */
export const processMetrics = (): Registry => {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
};
