import { useMemo } from 'react';
import type { RequestSummary } from '../../api/requests.ts';
import { rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { Panel } from '../../parts/panel.tsx';
import { trafficOverTime } from './traffic-over-time.ts';

/** Throughput and time to first byte over the last ten minutes. */
export const TrafficChart = ({
  requests,
  nowMs,
}: {
  readonly requests: readonly RequestSummary[];
  readonly nowMs: number | undefined;
}) => {
  // The chart has steps of five seconds: within one, only new requests change it.
  const step = Math.floor((nowMs ?? Date.now()) / 5_000);
  const traffic = useMemo(() => trafficOverTime(requests, step * 5_000), [requests, step]);
  const lines = useMemo(
    () => [
      { title: 'Requests per second', colour: '--accent', values: traffic.perSecond, format: rate },
      { title: 'Time to first byte', colour: '--warn', values: traffic.firstByteMs, format: duration },
    ],
    [traffic],
  );
  const most = Math.max(...traffic.perSecond);
  return (
    <Panel
      title="Last ten minutes"
      actions={
        <div className="traffic-legend">
          <span className="traffic-key">requests per second</span>
          <span className="traffic-key traffic-key-second">time to first byte</span>
        </div>
      }
    >
      <Chart
        label={`Requests over the last ten minutes, peaking at ${rate(most)} per second.`}
        times={traffic.times}
        lines={lines}
        height={150}
      />
    </Panel>
  );
};
