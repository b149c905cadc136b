import { type LabelValues, type Series, SeriesTable } from './series.ts';

/** Counts up, per set of labels. */
export class Tally {
  readonly #table = new SeriesTable(() => ({ count: 0 }));

  add(labels: LabelValues, by = 1): void {
    this.#table.at(labels).count += by;
  }

  get rows(): Iterable<Series<{ readonly count: number }>> {
    return this.#table.rows;
  }
}
