import type { Distribution, LabelValues } from './series.ts';

/** A metric that is read on each scrape. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Without the prefix. */
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly samples: () => Iterable<Sample>;
}

/** One line of a metric. */
interface Sample {
  /** Follows the metric's name: `_sum`. */
  readonly suffix?: string;
  /** Upper bound of a histogram's bucket. */
  readonly le?: number | '+Inf';
  readonly labels: LabelValues;
  readonly value: number;
}

const prefix = 'switchyard_';

/** Renders metrics in Prometheus's text format. Source: Prometheus, "Exposition formats", version 0.0.4. */
export const renderMetrics = (metrics: readonly Metric[]): string => `${metrics.map(renderMetric).join('\n\n')}\n`;

const renderMetric = ({ name, help, type, labelNames, samples }: Metric): string => {
  const lines = [`# HELP ${prefix}${name} ${help}`, `# TYPE ${prefix}${name} ${type}`];
  for (const { suffix = '', le, labels, value } of samples()) {
    const pairs = labelNames.map((label, index) => `${label}="${escapeLabel(labels[index] ?? '')}"`);
    if (le !== undefined) pairs.unshift(`le="${le}"`);
    lines.push(`${prefix}${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`);
  }
  return lines.join('\n');
};

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

/** The samples of a histogram, whose buckets are cumulative. */
export function* histogramSamples(distribution: Distribution): Iterable<Sample> {
  for (const { labels, value } of distribution.rows()) {
    let below = 0;
    for (const [index, le] of [...distribution.bounds, '+Inf' as const].entries()) {
      below += value.buckets[index] ?? 0;
      yield { suffix: '_bucket', le, labels, value: below };
    }
    yield { suffix: '_sum', labels, value: value.sum };
    yield { suffix: '_count', labels, value: value.count };
  }
}
