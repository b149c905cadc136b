/** What several processes' values of a metric come to. */
export type Across = 'sum' | 'max' | 'min';

/** Label values of a metric, in the order of its label names. */
export type LabelValues = readonly string[];

/** A metric that is read on each scrape. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Without the prefix. */
  readonly name: string;
  readonly help: string;
  /** What several processes' values come to; absent: their sum. */
  readonly across?: Across;
  readonly labelNames: readonly string[];
  readonly samples: () => Iterable<Sample>;
}

/** One line of a metric. */
export interface Sample {
  /** Follows the metric's name: `_sum`. */
  readonly suffix?: string;
  /** Upper bound of a histogram's bucket. */
  readonly le?: number | '+Inf';
  readonly labels: LabelValues;
  readonly value: number;
}
