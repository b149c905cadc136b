import type { LabelValues } from '../../observe/metric.ts';

/** One series of a metric. */
interface Series<T> {
  readonly labels: LabelValues;
  readonly value: T;
}

/** Maximum series per metric: clients choose some label values, and memory must stay bounded. */
const maxSeries = 1_000;

const overflow = 'other';

/** The series of one metric, created on first use; above the limit, new ones share a series with all labels `other`. */
class SeriesTable<T> {
  readonly rows: Series<T>[] = [];
  readonly #root = new LabelNode<T>();
  readonly #make: () => T;

  constructor(make: () => T) {
    this.#make = make;
  }

  at(labels: LabelValues): T {
    let node: LabelNode<T> | undefined = this.#root;
    for (let level = 0; node && level < labels.length; level += 1) node = node.below.get(labels[level] ?? '');
    return node?.value ?? this.#add(labels);
  }

  #add(labels: LabelValues): T {
    if (this.rows.length >= maxSeries && labels.some((label) => label !== overflow)) {
      return this.at(labels.map(() => overflow));
    }
    let node = this.#root;
    for (const label of labels) {
      const next = node.below.get(label) ?? new LabelNode<T>();
      node.below.set(label, next);
      node = next;
    }
    const value = this.#make();
    node.value = value;
    this.rows.push({ labels, value });
    return value;
  }
}

/** A tree of maps, one level per label: finding a series builds and hashes no key text. */
class LabelNode<T> {
  value: T | undefined;
  readonly below = new Map<string, LabelNode<T>>();
}

/** A counter per set of labels. */
export class Tally {
  readonly #table = new SeriesTable(() => ({ count: 0 }));

  add(labels: LabelValues, by = 1): void {
    this.#table.at(labels).count += by;
  }

  /** The counter of these labels, to add to it without looking for it each time. */
  at(labels: LabelValues): { count: number } {
    return this.#table.at(labels);
  }

  *rows(): Iterable<Series<number>> {
    for (const { labels, value } of this.#table.rows) yield { labels, value: value.count };
  }
}

/** Observations of one set of labels. */
export interface Observed {
  /** Observations per bucket, not cumulative; the last has no upper bound. */
  readonly buckets: Float64Array;
  count: number;
  sum: number;
}

/** A histogram per set of labels. */
export class Distribution {
  /** Inclusive upper bounds, ascending. */
  readonly bounds: readonly number[];
  readonly #table: SeriesTable<Observed>;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#table = new SeriesTable(() => ({ buckets: new Float64Array(bounds.length + 1), count: 0, sum: 0 }));
  }

  observe(labels: LabelValues, value: number): void {
    this.add(this.#table.at(labels), value);
  }

  /** Observations of these labels, for `add`. */
  at(labels: LabelValues): Observed {
    return this.#table.at(labels);
  }

  add(observed: Observed, value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket += 1;
    observed.buckets[bucket] = (observed.buckets[bucket] ?? 0) + 1;
    observed.count += 1;
    observed.sum += value;
  }

  rows(): Iterable<Series<Observed>> {
    return this.#table.rows;
  }
}
