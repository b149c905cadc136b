import { useCallback } from 'react';
import { readCapture } from '../../api/requests/capture.ts';
import { type Capture, type CapturedRequest, readRequest } from '../../api/requests/requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { dayAndTime, duration, usd } from '../../format/figures.ts';
import { CopyButton, IconButton } from '../../parts/controls/button.tsx';
import { Tabs } from '../../parts/controls/tabs.tsx';
import { LoadFailed, Loading, Notice } from '../../parts/layout/notice.tsx';
import { Dot } from '../../parts/text/badge.tsx';
import { changeQuery, href } from '../../router/route.ts';
import { CaptureSwitch } from '../requests/capture-switch.tsx';
import { listAddress } from '../requests/request-address.ts';
import { stateOf, toneOf } from '../requests/request-columns.tsx';
import { ConversationView } from './conversation-view.tsx';
import { EventsView } from './events-view.tsx';
import { ExportCapture } from './export-capture.tsx';
import { Origin } from './origin.tsx';
import { PathLine } from './path-line.tsx';
import { PathView } from './path-view.tsx';
import { RawView } from './raw-view.tsx';
import { ReplayView } from './replay-view.tsx';
import './request.css';
import { Retry } from './retry.tsx';

/** The open request: what became of it in one line, its path in another, then the conversation at once. */
export const RequestPane = ({
  id,
  query,
  onClose,
}: {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly onClose: () => void;
}) => {
  const ended = query.get('ended') ?? undefined;
  const { data, error, reload } = useLoad(
    useCallback((signal: AbortSignal) => readRequest(id, signal, ended), [id, ended]),
  );
  return (
    <article className="pane" aria-labelledby="pane-title">
      <header className="pane-head">
        {data ? (
          <Head {...data} />
        ) : (
          <h2 id="pane-title" className="pane-title">
            Request
          </h2>
        )}
        <IconButton icon="close" label="Close the request" onClick={onClose} />
      </header>
      {error && (
        <LoadFailed what="this request" error={error} onRetry={reload}>
          <a href={listAddress()}>All requests</a>
        </LoadFailed>
      )}
      {!data && !error && <Loading what="request" />}
      {data && <Found {...data} tab={query.get('tab')} was={query.get('was')} />}
    </article>
  );
};

const Head = ({ summary }: CapturedRequest) => {
  const { model, asked, scenario, durationMs, cost } = summary;
  const facts = [scenario, duration(durationMs), cost !== undefined && usd(cost)].filter(Boolean).join(' · ');
  return (
    <h2 id="pane-title" className="pane-title" title={dayAndTime(summary.startedAt)}>
      <Dot tone={toneOf(summary)} title={stateOf(summary)} />
      <span className="cut">{model ?? (asked || 'no model')}</span>
      <span className="pane-facts soft">{facts}</span>
    </h2>
  );
};

const Found = ({
  summary,
  capture,
  tab,
  was,
}: CapturedRequest & { readonly tab: string | null; readonly was: string | null }) => (
  <>
    <PathLine summary={summary} />
    <div className="pane-actions">
      <Retry summary={summary} capture={capture} />
      {capture && (
        <a className="button button-plain" href={`${href('/playground')}?${new URLSearchParams({ from: summary.id })}`}>
          Open in playground
        </a>
      )}
      {capture && <CopyButton text={capture.curl.client} label="Copy curl" />}
      {capture && <ExportCapture id={summary.id} />}
    </div>
    {was !== null && <Origin was={was} summary={summary} capture={capture} />}
    {summary.fault && (
      <Notice kind="failed" title={summary.fault.message}>
        <span className="soft small">
          {stateOf(summary)} · {summary.fault.kind}
        </span>
      </Notice>
    )}
    {capture ? (
      <Captured summary={summary} capture={capture} tab={tab} />
    ) : (
      <>
        <NotCaptured wasCaptured={summary.captured} />
        <PathView summary={summary} capture={null} />
      </>
    )}
  </>
);

const NotCaptured = ({ wasCaptured }: { readonly wasCaptured: boolean }) => {
  const { data, reload } = useLoad(useCallback((signal: AbortSignal) => readCapture(signal), []));
  if (wasCaptured) {
    return (
      <Notice title="The capture of this request is no longer kept">
        Captures are kept in memory for a while (<code>HISTORY.captureMinutes</code>), until the gateway stops.
      </Notice>
    );
  }
  return (
    <Notice title="This request was not captured" actions={<CaptureSwitch state={data} onChange={reload} />}>
      Its conversation, streams and stages were not kept. To read requests in full, capture them, or send one with the
      header <code>x-junctor-capture: 1</code>.
    </Notice>
  );
};

const Captured = ({
  summary,
  capture,
  tab,
}: Omit<CapturedRequest, 'capture'> & {
  readonly capture: Capture;
  /** The tab in the address. */
  readonly tab: string | null;
}) => {
  const { name: shown } = tabs.find(({ name }) => name === tab) ?? firstTab;
  return (
    <>
      {capture.truncated && (
        <Notice kind="warn">
          This request exceeds the limit of a capture. Truncated parts are marked, and it cannot be replayed.
        </Notice>
      )}
      <Tabs
        label="Request details"
        tabs={tabs}
        shown={shown}
        onShow={(name) => changeQuery({ tab: name === firstTab.name ? '' : name })}
      >
        {shown === 'conversation' && <ConversationView summary={summary} capture={capture} />}
        {shown === 'path' && <PathView summary={summary} capture={capture} />}
        {shown === 'stream' && (
          <>
            <EventsView capture={capture} />
            <ReplayView summary={summary} capture={capture} />
          </>
        )}
        {shown === 'raw' && <RawView capture={capture} />}
      </Tabs>
    </>
  );
};

interface ViewTab {
  readonly name: 'conversation' | 'path' | 'stream' | 'raw';
  readonly title: string;
}

const firstTab: ViewTab = { name: 'conversation', title: 'Conversation' };

const tabs: readonly ViewTab[] = [
  firstTab,
  { name: 'path', title: 'Path' },
  { name: 'stream', title: 'Stream' },
  { name: 'raw', title: 'Raw' },
];
