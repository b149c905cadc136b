import type { Family } from '../../observe/families.ts';
import type { Metric, Sample } from '../../observe/metric.ts';
import type { Distribution } from '../record/series.ts';

/** A metric with its current series. `prefix`: before its name. */
export const familyOf = (
  { name, help, type, across = 'sum', labelNames, samples }: Metric,
  prefix = 'junctor_',
): Family => ({
  name: `${prefix}${name}`,
  help,
  type,
  across,
  series: Array.from(samples(), ({ suffix = '', le, labels, value }) => {
    // An empty label means the same as none. Source: Prometheus, "Data model".
    const pairs = labelNames.flatMap((label, index): Pair[] => (labels[index] ? [[label, labels[index]]] : []));
    if (le !== undefined) pairs.unshift(['le', String(le)]);
    return [seriesText(`${prefix}${name}${suffix}`, pairs), value];
  }),
});

type Pair = readonly [label: string, value: string];

/** A line's text before its value. */
const seriesText = (name: string, pairs: readonly Pair[]): string =>
  pairs.length === 0 ? name : `${name}{${pairs.map(([label, value]) => `${label}="${escapeLabel(value)}"`).join(',')}}`;

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
