import type { ReactNode } from 'react';
import type { Activity } from '../../api/requests/activity.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { count, rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { timeOfDay } from '../../format/time.ts';
import { href } from '../../router/route.ts';
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
      <SummaryTile title="Failed" about={activity ? hourOf(activity) : ' '}>
        {activity ? <a href={lastFailures}>{count(activity.lastHour.failed)}</a> : '–'}
      </SummaryTile>
    </dl>
  );
};

/** The requests that failed in the last hour. */
const lastFailures = `${href('/requests')}?from=1h&status=failed`;

/** Of how many requests; those before the start aren't counted. */
const hourOf = ({ now, startedAt, lastHour: { ended } }: Activity): string =>
  `of ${count(ended)} ${now - startedAt < hourMs ? `since ${timeOfDay(startedAt)}` : 'in the last hour'}`;

const hourMs = 3_600_000;

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
