/** Label values of a metric, in the order of its label names. */
export type LabelValues = readonly string[];

/** One series of a metric. */
export interface Series<T> {
  readonly labels: LabelValues;
  readonly value: T;
}

/** Maximum series per metric: clients choose some label values, and memory must stay bounded. */
const maxSeries = 1_000;
const overflow = 'other';

/** The series of one metric, created on first use; above the limit, new ones share a series with all labels `other`. */
class SeriesTable<T> {
  readonly #rows = new Map<string, Series<T>>();
  readonly #make: () => T;

  constructor(make: () => T) {
    this.#make = make;
  }

  at(labels: LabelValues): T {
    const key = labels.length === 1 ? (labels[0] ?? '') : labels.join('\0');
    return this.#rows.get(key)?.value ?? this.#add(key, labels);
  }

  get rows(): Iterable<Series<T>> {
    return this.#rows.values();
  }

  #add(key: string, labels: LabelValues): T {
    if (this.#rows.size >= maxSeries && labels.some((label) => label !== overflow)) {
      return this.at(labels.map(() => overflow));
    }
    const value = this.#make();
    this.#rows.set(key, { labels, value });
    return value;
  }
}

/** A counter per set of labels. */
export class Tally {
  readonly #table = new SeriesTable(() => ({ count: 0 }));

  add(labels: LabelValues, by = 1): void {
    this.#table.at(labels).count += by;
  }

  get rows(): Iterable<Series<{ readonly count: number }>> {
    return this.#table.rows;
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
    const observed = this.#table.at(labels);
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket += 1;
    observed.buckets[bucket] = (observed.buckets[bucket] ?? 0) + 1;
    observed.count += 1;
    observed.sum += value;
  }

  get rows(): Iterable<Series<Observed>> {
    return this.#table.rows;
  }
}
