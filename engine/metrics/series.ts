/** Values of a metric's labels, in the order of its label names. */
export type LabelValues = readonly string[];

/** One row of a metric. */
export interface Series<T> {
  readonly labels: LabelValues;
  readonly value: T;
}

/** How many rows a metric has at most: whoever can choose a label's value could otherwise fill the memory. */
const mostSeries = 1_000;
const overflow = 'other';

/** The rows of one metric, each made when it is first met; past the limit all new ones are one, with `other` everywhere. */
export class SeriesTable<T> {
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
    if (this.#rows.size >= mostSeries && labels.some((label) => label !== overflow)) {
      return this.at(labels.map(() => overflow));
    }
    const value = this.#make();
    this.#rows.set(key, { labels, value });
    return value;
  }
}
