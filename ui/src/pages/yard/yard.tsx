import { useCallback } from 'react';
import { readActivity } from '../../api/activity.ts';
import { useLoad } from '../../api/use-load.ts';
import { useRecentRequests } from '../../api/use-recent-requests.ts';
import { CaptureSwitch } from '../../parts/capture-switch.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import type { PageProps } from '../page.ts';
import { FirstRunPanel } from './first-run-panel.tsx';
import { InFlightPanel } from './in-flight-panel.tsx';
import { LinesPanel } from './lines-panel.tsx';
import { RequestsPanel } from './requests-panel.tsx';
import { SummaryTiles } from './summary-tiles.tsx';
import { TrafficChart } from './traffic-chart.tsx';
import './yard.css';

/** The home page: the running graph with its traffic, and the last requests. */
export const Yard = ({ query }: PageProps) => {
  const activity = useLoad(
    useCallback((signal) => readActivity(signal), []),
    1_000,
  );
  const requests = useRecentRequests(1_000);
  const error = activity.error ?? requests.error;
  const list = requests.data?.requests ?? none;
  return (
    <>
      <PageHeader title="Yard" actions={<CaptureSwitch state={requests.data?.capture} onChange={requests.reload} />} />
      {error && <Notice kind="failed">{error}</Notice>}
      <FirstRunPanel requests={list} />
      <SummaryTiles activity={activity.data} requests={list} />
      <LinesPanel activity={activity.data} requests={list} query={query} />
      <div className="yard-pair">
        <TrafficChart query={query} />
        <InFlightPanel activity={activity.data} />
      </div>
      <RequestsPanel query={query} requests={requests.data ? list : undefined} onForget={requests.forget} />
    </>
  );
};

const none: readonly never[] = [];
