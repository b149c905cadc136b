import { useMemo } from 'react';
import type { UsageReport } from '../../api/usage.ts';
import { counted } from '../../format/figures.ts';
import { SeriesChart } from '../../parts/chart/series-chart.tsx';
import { navigate } from '../../router/route.ts';
import { usageSteps } from './usage-steps.ts';
import { requestsOf, titleOf, type usageViewOf } from './usage-view.ts';

/**
 * The view's measure over time, split by name: `names` in their colours, all others together in the last one. A bar leads to its
 * requests.
 */
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
  const open = (at: number, picked: number | undefined): void => {
    const [begin, end] = [times[at], times[at + 1]];
    if (begin === undefined) return;
    const from = new Date(Math.max(begin, Date.parse(report.from))).toISOString();
    const span = { from, ...(end !== undefined && { to: new Date(end - 1).toISOString() }) };
    const name = picked === undefined ? undefined : names[picked];
    const status = measure.name === 'failures' ? 'failed' : undefined;
    const to = (name !== undefined && requestsOf(span, [[by, name]], status)) || requestsOf(span, [], status);
    if (to !== undefined) navigate(to);
  };
  return (
    <SeriesChart
      label={`${measure.title} by ${step} and ${by}`}
      times={times}
      step={step}
      series={series}
      notes={notes}
      stacked={measure.adds}
      format={measure.format}
      onPick={open}
    />
  );
};
