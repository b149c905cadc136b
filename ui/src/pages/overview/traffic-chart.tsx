import { useCallback, useMemo } from 'react';
import { type Activity, readActivity } from '../../api/requests/activity.ts';
import { useLoad } from '../../api/use-load.ts';
import { rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { changeQuery } from '../../router/route.ts';

/** The gateway counts in steps of this length, in milliseconds: more often, there is nothing new. */
const everyMs = 5_000;

/** How many minutes an address shows. */
export const trafficMinutes = (query: URLSearchParams): number => (query.get('range') === '60' ? 60 : 10);

/** Throughput, failures and time to first byte over the last ten minutes or the last hour. */
export const TrafficChart = ({
  minutes,
  fed,
  isMissing,
}: {
  readonly minutes: number;
  /** What the feed told last. */
  readonly fed: Activity | undefined;
  /** There is no feed: the gateway is asked. */
  readonly isMissing: boolean;
}) => {
  const load = useCallback((signal: AbortSignal) => readActivity(signal, minutes), [minutes]);
  const asked = useLoad(load, everyMs, isMissing);
  const data = isMissing ? (asked.data ?? fed) : fed;
  const { times, perSecond, failedPerSecond, firstByteMs } = useMemo(() => seriesOf(data), [data]);
  const lines = useMemo(
    () => [
      { title: 'Requests per second', colour: '--accent', values: perSecond, format: rate },
      { title: 'Time to first byte', colour: '--warn', values: firstByteMs, format: duration },
      { title: 'Failed per second', colour: '--bad', values: failedPerSecond, format: rate, scaleOf: 0 },
    ],
    [perSecond, failedPerSecond, firstByteMs],
  );
  const most = Math.max(0, ...perSecond.map((value) => value ?? 0));
  return (
    <Panel
      title="Traffic"
      actions={
        <>
          <div className="traffic-legend">
            <span className="traffic-key">requests per second</span>
            <span className="traffic-key traffic-key-third">failed</span>
            <span className="traffic-key traffic-key-second">time to first byte</span>
          </div>
          <Segmented
            label="Range"
            value={minutes === 60 ? '60' : '10'}
            onChange={(range) => changeQuery({ range: range === '60' ? range : '' })}
            options={[
              { value: '10', label: '10 min' },
              { value: '60', label: '1 h' },
            ]}
          />
        </>
      }
    >
      <Chart
        label={`Requests over the last ${minutes === 60 ? 'hour' : 'ten minutes'}, peaking at ${rate(most)} per second.`}
        times={times}
        lines={lines}
        height={150}
      />
    </Panel>
  );
};

/** The chart's series; nothing is drawn where the gateway didn't run yet. */
const seriesOf = (activity: Activity | undefined) => {
  const { stepMs = everyMs, steps = [] } = activity?.traffic ?? {};
  // The last step isn't over.
  const over = steps.slice(0, -1);
  const known = (at: number): boolean => at + stepMs > (activity?.startedAt ?? 0);
  const perSecond = (pick: (step: (typeof over)[number]) => number): readonly (number | null)[] =>
    over.map((step) => (known(step.at) ? pick(step) / (stepMs / 1_000) : null));
  return {
    times: over.map(({ at }) => at),
    perSecond: perSecond(({ ended }) => ended),
    failedPerSecond: perSecond(({ failed }) => failed),
    firstByteMs: over.map(({ firstByteP50Ms }) => firstByteP50Ms ?? null),
  };
};
