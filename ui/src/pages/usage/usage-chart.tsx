import { useMemo } from 'react';
import type { UsageReport } from '../../api/usage.ts';
import { counted } from '../../format/count.ts';
import { SeriesChart } from '../../parts/chart/series-chart.tsx';
import { usageSteps } from './usage-steps.ts';
import { titleOf, type usageViewOf } from './usage-view.ts';

/** The view's measure over time, split by name: `names` in their colours, all others together in the last one. */
export const UsageChart = ({
  view: { range, by, measure },
  report,
  names,
}: {
  readonly view: ReturnType<typeof usageViewOf>;
  /** By the step of the range. */
  readonly report: UsageReport;
  readonly names: readonly (string | null)[];
}) => {
  const { step } = range;
  const { times, series, notes } = useMemo(() => {
    const starts = usageSteps(report, step);
    const at = new Map(starts.map((ms, index) => [ms, index]));
    const empty = measure.adds ? 0 : null;
    const values = new Map<string | null | undefined, (number | null)[]>(
      [...names, ...(measure.adds ? [undefined] : [])].map((name) => [name, starts.map(() => empty)]),
    );
    const unknown = starts.map(() => 0);
    for (const row of report.rows) {
      const index = at.get(Date.parse(row.from ?? ''));
      if (index !== undefined) unknown[index] = (unknown[index] ?? 0) + (measure.unknown?.(row) ?? 0);
      const own = values.get(names.includes(row.name) ? row.name : undefined);
      if (index === undefined || !own) continue;
      const value = measure.of(row);
      own[index] = measure.adds ? (own[index] ?? 0) + (value ?? 0) : value;
    }
    const all = [...values].map(([name, list]) => ({
      title: name === undefined ? 'Others' : titleOf(name, by),
      values: list,
    }));
    const unknowns = unknown.map((many) => (many > 0 ? `Not known of ${counted(many, 'request')}` : undefined));
    return { times: starts, series: all, notes: unknowns };
  }, [report, step, names, measure, by]);
  return (
    <SeriesChart
      label={`${measure.title} by ${step} and ${by}`}
      times={times}
      step={step}
      series={series}
      notes={notes}
      stacked={measure.adds}
      format={measure.format}
    />
  );
};
