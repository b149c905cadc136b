import type { ReactNode } from 'react';
import type { Activity } from '../../api/activity.ts';
import { hasFailed, type RequestSummary } from '../../api/requests.ts';
import { count, rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { timeOfDay } from '../../format/time.ts';
import { trafficOn } from './lines.ts';
import { median } from './median.ts';

/** Summary tiles: the current traffic, and figures of the last requests. */
export const SummaryTiles = ({
  activity,
  requests: known,
}: {
  readonly activity: Activity | undefined;
  readonly requests: readonly RequestSummary[] | undefined;
}) => {
  const requests = known ?? [];
  const { perSecond, durationMs, firstByteMs } = trafficOn(activity, requests, {});
  const failed = requests.filter(hasFailed).length;
  const overheadMs = median(requests.flatMap((one) => (one.overheadMs === undefined ? [] : [one.overheadMs])));
  const streams = activity?.inFlight.filter(({ phase }) => phase === 'streaming').length ?? 0;
  return (
    <dl className="summary-tiles">
      <SummaryTile title="In flight" about={activity ? `${count(streams)} streaming` : ' '}>
        {activity ? count(activity.inFlightCount) : '–'}
      </SummaryTile>
      <SummaryTile title="Requests per second" about={activity ? `up since ${timeOfDay(activity.startedAt)}` : ' '}>
        {activity ? rate(perSecond) : '–'}
      </SummaryTile>
      <SummaryTile
        title="Time to first byte"
        about={durationMs === undefined ? ' ' : `${duration(durationMs)} in total`}
      >
        {firstByteMs === undefined ? '–' : duration(firstByteMs)}
      </SummaryTile>
      <SummaryTile title="Gateway overhead" about="median">
        {overheadMs === undefined ? '–' : duration(overheadMs)}
      </SummaryTile>
      <SummaryTile title="Failed" about={known ? `of the last ${count(known.length)}` : ' '}>
        {known ? count(failed) : '–'}
      </SummaryTile>
    </dl>
  );
};

const SummaryTile = ({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about: string;
  readonly children: ReactNode;
}) => (
  <div className="summary-tile">
    <dt>{title}</dt>
    <dd>
      {children}
      <small>{about}</small>
    </dd>
  </div>
);
