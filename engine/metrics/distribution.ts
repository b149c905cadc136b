import { type LabelValues, type Series, SeriesTable } from './series.ts';

/** What was observed under one set of labels. */
export interface Observed {
  /** How many were in each bucket, those of lower buckets not included; the last one has no upper bound. */
  readonly buckets: Float64Array;
  count: number;
  sum: number;
}

/** Sorts observations into buckets, per set of labels. */
export class Distribution {
  /** Upper bounds, inclusive, ascending. */
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
