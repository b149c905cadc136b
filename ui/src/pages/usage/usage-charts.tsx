import { useMemo } from 'react';
import type { UsageReport, UsageStep } from '../../api/usage.ts';
import { count, counted } from '../../format/count.ts';
import { usd } from '../../format/usd.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { Panel } from '../../parts/panel.tsx';
import { usageOverTime } from './usage-over-time.ts';
import { atLeast } from './usage-view.ts';

/** Requests and cost over time. */
export const UsageCharts = ({
  report,
  step,
}: {
  readonly report: UsageReport;
  readonly step: Exclude<UsageStep, 'none'>;
}) => {
  const { times, requests, cost } = useMemo(() => usageOverTime(report, step), [report, step]);
  const asked = useMemo(() => [{ title: 'Requests', colour: '--accent', values: requests, format: count }], [requests]);
  const paid = useMemo(() => [{ title: 'Cost', colour: '--warn', values: cost, format: usd }], [cost]);
  const { total } = report;
  return (
    <div className="usage-pair">
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
    </div>
  );
};
