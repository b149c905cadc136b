import { useMemo } from 'react';
import type { RequestSummary } from '../../api/requests.ts';
import { rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { Panel } from '../../parts/panel.tsx';
import { trafficCourse } from './traffic-course.ts';

/** Throughput and time to first byte over the last ten minutes. */
export const CoursePanel = ({
  requests,
  nowMs,
}: {
  readonly requests: readonly RequestSummary[];
  readonly nowMs: number | undefined;
}) => {
  // The chart has steps of five seconds: within one, only new requests change it.
  const step = Math.floor((nowMs ?? Date.now()) / 5_000);
  const course = useMemo(() => trafficCourse(requests, step * 5_000), [requests, step]);
  const lines = useMemo(
    () => [
      { title: 'Requests per second', colour: '--accent', values: course.perSecond, format: rate },
      { title: 'Time to first byte', colour: '--warn', values: course.firstByteMs, format: duration },
    ],
    [course],
  );
  const most = Math.max(...course.perSecond);
  return (
    <Panel
      title="Last ten minutes"
      actions={
        <div className="course-legend">
          <span className="course-key">requests per second</span>
          <span className="course-key course-key-second">time to first byte</span>
        </div>
      }
    >
      <Chart
        label={`Requests over the last ten minutes, peaking at ${rate(most)} per second.`}
        times={course.times}
        lines={lines}
        height={150}
      />
    </Panel>
  );
};
