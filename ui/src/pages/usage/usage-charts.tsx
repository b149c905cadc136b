import { useMemo } from 'react';
import type { ChartStep, UsageReport } from '../../api/usage.ts';
import { count, counted } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { usd } from '../../format/usd.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { usageOverTime } from './usage-over-time.ts';
import { atLeast } from './usage-view.ts';

/** Requests, cost and times over time. */
export const UsageCharts = ({ report, step }: { readonly report: UsageReport; readonly step: ChartStep }) => {
  const { times, requests, cost, firstByte } = useMemo(() => usageOverTime(report, step), [report, step]);
  const asked = useMemo(() => [{ title: 'Requests', colour: '--accent', values: requests, format: count }], [requests]);
  const paid = useMemo(() => [{ title: 'Cost', colour: '--warn', values: cost, format: usd }], [cost]);
  const waited = useMemo(
    () =>
      percentiles.map(({ name, title, colour }, index) => ({
        title,
        ...(index > 0 && { scaleOf: 0 }),
        colour,
        values: firstByte.map((of) => of?.[name] ?? null),
        format: duration,
      })),
    [firstByte],
  );
  const { total } = report;
  const { firstByteMs } = total;
  return (
    <div className="usage-charts">
      <Panel title="Requests" about={`By ${step}, in UTC`}>
        <Chart
          label={`Requests by ${step}: ${counted(total.requests, 'request')} in all.`}
          times={times}
          lines={asked}
          step={step}
          height={150}
        />
      </Panel>
      <Panel title="Cost" about={`By ${step}, in UTC; only what is known`}>
        <Chart
          label={`Cost by ${step}: ${atLeast(total.cost, total.unpriced, usd)} in all.`}
          times={times}
          lines={paid}
          step={step}
          height={150}
        />
      </Panel>
      <Panel title="Time to first byte" about={`By ${step}, in UTC`}>
        <Chart
          label={
            firstByteMs
              ? `Time to first byte by ${step}: median ${duration(firstByteMs.p50)}, 95 % within ${duration(firstByteMs.p95)}.`
              : `Time to first byte by ${step}: none is known.`
          }
          times={times}
          lines={waited}
          step={step}
          height={150}
        />
      </Panel>
    </div>
  );
};

const percentiles = [
  { name: 'p50', title: 'Median', colour: '--accent' },
  { name: 'p95', title: '95 % within', colour: '--warn' },
  { name: 'p99', title: '99 % within', colour: '--bad' },
] as const;
