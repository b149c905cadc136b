import { useCallback } from 'react';
import { readCapture } from '../../api/requests/capture.ts';
import { type Capture, type CapturedRequest, type RequestSummary, readRequest } from '../../api/requests/requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { dayAndTime } from '../../format/time.ts';
import { CaptureSwitch } from '../../parts/controls/capture-switch.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { Tabs } from '../../parts/controls/tabs.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { StatusBadge } from '../../parts/text/status-badge.tsx';
import { changeQuery, href } from '../../router/route.ts';
import type { PageProps } from '../page.ts';
import { CallsView } from './calls-view.tsx';
import { ConversationView } from './conversation-view.tsx';
import { EventsView } from './events-view.tsx';
import { Neighbours } from './neighbours.tsx';
import { Overview } from './overview.tsx';
import { ReplayView } from './replay-view.tsx';
import './request.css';
import { StepsView } from './steps-view.tsx';
import { TimingPanel } from './timing-panel.tsx';

/** One request: its conversation, its steps, both streams, and a replay. */
export const Request = ({ rest: [id = ''], query }: PageProps) => {
  const ended = query.get('ended') ?? undefined;
  const { data, error, reload } = useLoad(useCallback((signal) => readRequest(id, signal, ended), [id, ended]));
  return (
    <>
      <Neighbours id={id} />
      <PageBar
        title={
          <span className="request-title">
            <span className="mono">{id}</span> {data && <StatusBadge status={data.summary.status} />}
          </span>
        }
        about={data && dayAndTime(data.summary.startedAt)}
        actions={
          <>
            {data?.capture && (
              <a className="button button-plain" href={`${href('/playground')}?${new URLSearchParams({ from: id })}`}>
                Edit and send again
              </a>
            )}
            <CopyButton text={id} label="Copy id" />
          </>
        }
      />
      {error && (
        <LoadFailed what="this request" error={error} onRetry={reload}>
          <a href={href('/requests')}>Search the history</a>
        </LoadFailed>
      )}
      {!data && !error && <Loading what="request" />}
      {data && <Found {...data} tab={query.get('tab')} />}
    </>
  );
};

const Found = ({ summary, capture, tab }: CapturedRequest & { readonly tab: string | null }) => (
  <>
    {summary.fault && (
      <Notice kind="failed" title={`Failed: ${summary.fault.kind}`}>
        {summary.fault.message}
      </Notice>
    )}
    <Overview summary={summary} />
    {capture ? (
      <Captured summary={summary} capture={capture} tab={tab} />
    ) : (
      <NotCaptured wasCaptured={summary.captured} />
    )}
  </>
);

const NotCaptured = ({ wasCaptured }: { readonly wasCaptured: boolean }) => {
  const { data, reload } = useLoad(useCallback((signal) => readCapture(signal), []));
  if (wasCaptured) {
    return (
      <Notice title="The recording of this request is no longer kept">
        The last recordings are kept in memory for a while (<code>HISTORY.captureMinutes</code>), until the gateway
        stops.
      </Notice>
    );
  }
  return (
    <Notice title="This request was not recorded" actions={<CaptureSwitch state={data} onChange={reload} />}>
      Its conversation, streams and stages were not kept. To read requests in full, turn recording on, or send one with
      the header <code>x-junctor-capture: 1</code>.
    </Notice>
  );
};

const Captured = ({
  summary,
  capture,
  tab,
}: {
  readonly summary: RequestSummary;
  readonly capture: Capture;
  /** The tab in the address. */
  readonly tab: string | null;
}) => {
  const { name: shown } = tabs.find(({ name }) => name === tab) ?? firstTab;
  return (
    <>
      {capture.unasked && (
        <Notice>
          Recorded without being asked, because the request failed or lost fields: the request, the call and the
          response, without stages. Of the provider’s answer, only an error is kept. Record requests to see the rest.
        </Notice>
      )}
      {capture.truncated && (
        <Notice kind="warn">
          This request exceeds the recording limit. Truncated parts are marked, and it cannot be replayed.
        </Notice>
      )}
      <TimingPanel timing={capture.timing} />
      <Tabs
        label="Request details"
        tabs={tabs}
        shown={shown}
        onShow={(name) => changeQuery({ tab: name === firstTab.name ? '' : name })}
      >
        {shown === 'conversation' && <ConversationView summary={summary} capture={capture} />}
        {shown === 'steps' && <StepsView capture={capture} />}
        {shown === 'events' && <EventsView capture={capture} />}
        {shown === 'calls' && <CallsView capture={capture} />}
        {shown === 'replay' && <ReplayView summary={summary} capture={capture} />}
      </Tabs>
    </>
  );
};

type ViewName = 'conversation' | 'steps' | 'events' | 'calls' | 'replay';

interface ViewTab {
  readonly name: ViewName;
  readonly title: string;
}

const firstTab: ViewTab = { name: 'conversation', title: 'Conversation' };

const tabs: readonly ViewTab[] = [
  firstTab,
  { name: 'steps', title: 'Steps' },
  { name: 'events', title: 'Events' },
  { name: 'calls', title: 'Headers and curl' },
  { name: 'replay', title: 'Replay' },
];
