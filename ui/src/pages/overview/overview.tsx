import { useState } from 'react';
import { type Activity, readActivity } from '../../api/requests/activity.ts';
import type { FeedEvent } from '../../api/requests/feed.ts';
import { useFeed } from '../../api/requests/use-feed.ts';
import { takeRequests, useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { CaptureSwitch } from '../../parts/controls/capture-switch.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { MachinesNotice } from '../../parts/layout/machines-notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import type { PageProps } from '../page.ts';
import { FirstRunPanel } from './first-run-panel.tsx';
import { InFlightPanel } from './in-flight-panel.tsx';
import { LinesPanel } from './lines-panel.tsx';
import { RequestsPanel } from './requests-panel.tsx';
import { SummaryTiles } from './summary-tiles.tsx';
import { TrafficChart, trafficMinutes } from './traffic-chart.tsx';
import './overview.css';

/** The home page: the running graph with its traffic, and the last requests. */
export const Overview = ({ query }: PageProps) => {
  const minutes = trafficMinutes(query);
  const [fed, setFed] = useState<Activity>();
  const [traffic, setTraffic] = useState<Activity>();
  const feed = useFeed({ topics: 'requests,activity', minutes }, (event: FeedEvent) => {
    if (event.type === 'requests') takeRequests(event.data);
    else if (event.type === 'activity') setFed(event.data);
    else if (event.type === 'traffic') setTraffic(event.data);
  });
  const isMissing = feed === 'missing';
  const asked = useLoad(readNow, 1_000, isMissing);
  const requests = useRecentRequests(isMissing ? 'poll' : 'feed');
  const activity = isMissing ? (asked.data ?? fed) : fed;
  const error = isMissing ? (asked.error ?? requests.error) : undefined;
  const list = requests.data?.requests ?? none;
  return (
    <>
      <PageBar title="Overview" actions={<CaptureSwitch state={requests.data?.capture} onChange={requests.reload} />} />
      {error && <LoadFailed what="the traffic" error={error} onRetry={asked.reload} />}
      <MachinesNotice machines={activity?.machines} />
      <FirstRunPanel requests={list} />
      <SummaryTiles activity={activity} requests={requests.data && list} />
      <LinesPanel activity={activity} requests={list} query={query} />
      <div className="overview-pair">
        <TrafficChart minutes={minutes} fed={traffic} isMissing={isMissing} />
        <InFlightPanel activity={activity} />
      </div>
      <RequestsPanel query={query} requests={requests.data ? list : undefined} onForget={requests.forget} />
    </>
  );
};

const none: readonly never[] = [];

const readNow = (signal: AbortSignal): Promise<Activity> => readActivity(signal);
