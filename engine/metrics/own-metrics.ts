import { Counter, Gauge, Histogram, type LabelValues, type Registry } from 'prom-client';
import type { Distribution, Observed } from './distribution.ts';
import type { Series, LabelValues as Values } from './series.ts';
import type { Tally } from './tally.ts';

/** A metric's name, without the prefix, and what it says. */
export interface MetricText<L extends string = string> {
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

/** Shows a tally; its numbers are read when somebody asks. */
export const showTally = (registry: Registry, text: MetricText, tally: Pick<Tally, 'rows'>): void => {
  new Counter({
    ...configuration(text, registry),
    collect() {
      this.reset();
      for (const { labels, value } of tally.rows) this.inc(named(text.labelNames, labels), value.count);
    },
  });
};

/** Shows numbers that go up and down, per set of labels. */
export const showLevels = (registry: Registry, text: MetricText, levels: () => Iterable<Series<number>>): void => {
  new Gauge({
    ...configuration(text, registry),
    collect() {
      this.reset();
      for (const { labels, value } of levels()) this.set(named(text.labelNames, labels), value);
    },
  });
};

/** Shows a number that goes up and down. */
export const showLevel = (registry: Registry, text: MetricText<never>, level: () => number): void => {
  new Gauge({
    ...configuration(text, registry),
    collect() {
      this.set(level());
    },
  });
};

/** Shows a distribution. */
export const showDistribution = (registry: Registry, text: MetricText, distribution: Distribution): void => {
  new ShownDistribution(registry, text, distribution);
};

/** The package's histogram can only be observed into, so this one gives what was sorted elsewhere. */
class ShownDistribution extends Histogram {
  readonly #text: MetricText;
  readonly #distribution: Distribution;

  constructor(registry: Registry, text: MetricText, distribution: Distribution) {
    super({ ...configuration(text, registry), buckets: [...distribution.bounds] });
    this.#text = text;
    this.#distribution = distribution;
  }

  /** The package's registry asks this in preference to `get`, of which it is the inner part. */
  async getForPromString() {
    const { bounds, rows } = this.#distribution;
    const { name, help, labelNames } = this.#text;
    const values = [...rows].flatMap(({ labels, value }) =>
      valuesOf(prefix + name, bounds, named(labelNames, labels), value),
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

const named = (names: readonly string[], values: Values): LabelValues<string> =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
