import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type { KeptRequest } from '../../api/requests/history.ts';
import { readRequest } from '../../api/requests/requests.ts';
import { readSession, type Session } from '../../api/requests/sessions.ts';
import { hasFailed } from '../../api/requests/summary.ts';
import { useLoad } from '../../api/use-load.ts';
import { count, counted, duration, tokens, usd } from '../../format/figures.ts';
import { CopyButton, IconButton } from '../../parts/controls/button.tsx';
import { LoadedView, Notice } from '../../parts/layout/notice.tsx';
import { ShowMore } from '../../parts/table/show-more.tsx';
import { Dot } from '../../parts/text/badge.tsx';
import { Figures } from '../../parts/text/figures.tsx';
import { listAddress, requestAddress } from '../requests/request-address.ts';
import { stateOf, Title, toneOf } from '../requests/request-columns.tsx';
import { costOf } from '../requests/session-list.tsx';
import { ConversationView } from './conversation-view.tsx';
import { readExchange } from './read-exchange.ts';
import './request.css';
import { type SessionTime, sessionTimes } from './session-times.ts';
import { TimeParts, TimeTrack } from './timing-bar.tsx';

/** How often the session is read, in milliseconds. */
const everyMs = 10_000;

/** The open session: its sums, its requests one line each, and the whole conversation once. */
export const SessionPane = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const session = useLoad(
    useCallback((signal: AbortSignal) => readSession(id, signal), [id]),
    everyMs,
  );
  return (
    <article className="pane" aria-labelledby="pane-title">
      <header className="pane-head">
        <h2 id="pane-title" className="pane-title">
          <span>Session</span>
          <span className="soft mono cut">{id}</span>
        </h2>
        <IconButton icon="close" label="Close the session" onClick={onClose} />
      </header>
      <LoadedView what="the session" of={session}>
        {(data) => <Found {...data} />}
      </LoadedView>
    </article>
  );
};

const Found = ({ session, requests, truncated }: Awaited<ReturnType<typeof readSession>>) => {
  const newest = requests.findLast(({ captured }) => captured);
  const { times, pausesMs } = useMemo(() => sessionTimes(requests), [requests]);
  return (
    <>
      {truncated && <Notice kind="warn">Only the newest requests of this session are shown and summed up.</Notice>}
      <Sums session={session} pausesMs={pausesMs} />
      <div className="row">
        <a className="button button-plain" href={listAddress({ group: '', session: session.id })}>
          Show its requests in the list
        </a>
        <CopyButton text={session.id} label="Copy id" />
      </div>
      <Timeline times={times} />
      {newest ? (
        <Conversation key={newest.id} newest={newest} requests={requests} />
      ) : (
        <Notice title="No request of this session is captured">
          Its conversation was not kept. Capture requests to read whole conversations here.
        </Notice>
      )}
    </>
  );
};

const Sums = ({ session, pausesMs }: { readonly session: Session; readonly pausesMs: number }) => {
  const { turns, requests, failed, startedAt, endedAt, tools, usage } = session;
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return (
    <>
      <Figures
        figures={[
          { title: 'Cost', value: costOf(session) },
          { title: 'Requests', value: count(requests), note: counted(turns, 'turn') },
          { title: 'Failed', value: count(failed) },
          {
            title: 'From cache',
            value: input === 0 ? '–' : `${Math.round((usage.cacheRead / input) * 100)} %`,
            note: tokens(usage),
          },
          { title: 'Span', value: duration(endedAt - startedAt), note: `${duration(pausesMs)} of pauses` },
        ]}
      />
      {tools.length > 0 && (
        <p className="soft small">{tools.map(({ name, calls }) => `${name} ×${count(calls)}`).join(', ')}</p>
      )}
    </>
  );
};

const parts = [
  { name: 'waitMs', title: 'Wait for the first byte', whose: 'theirs' },
  { name: 'streamMs', title: 'Stream', whose: 'stream' },
  { name: 'toolsMs', title: 'Tools', whose: 'tools' },
] as const;

/** How many requests are drawn at first: the newest. */
const firstShown = 12;

/** The requests one by one, each where its time is, without the user's pauses. */
const Timeline = ({ times }: { readonly times: readonly SessionTime[] }) => {
  const [shown, setShown] = useState(firstShown);
  const rows = times.slice(-shown);
  const beginMs = rows[0]?.atMs ?? 0;
  const wholeMs = Math.max(...rows.map(({ atMs, waitMs, streamMs, toolsMs }) => atMs + waitMs + streamMs + toolsMs));
  const sumOf = (name: (typeof parts)[number]['name']): number => times.reduce((sum, time) => sum + time[name], 0);
  return (
    <section className="stack-tight" aria-label="Timeline">
      <TimeParts parts={parts.map((part) => ({ ...part, ms: sumOf(part.name) }))} />
      <ShowMore shown={rows.length} of={times.length} onMore={() => setShown(shown * 5)} />
      <ol className="bare session-requests" aria-label="Requests of the session">
        {rows.map(({ request, ...time }) => (
          <li key={`${request.n} ${request.id}`}>
            <Dot tone={toneOf(request)} title={stateOf(request)} />
            <a className="cut" href={requestAddress(request)}>
              <Title request={request} />
            </a>
            <Answered request={request} />
            <TimeTrack
              parts={parts.map((part) => ({ ...part, ms: time[part.name] }))}
              beforeMs={time.atMs - beginMs}
              wholeMs={wholeMs - beginMs}
            />
            <span className="small number">{duration(request.durationMs)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
};

/** Which model answered a request, at what cost, and what part of its input came from the cache. */
const Answered = ({ request: { model, usage, cost, failedAttempts } }: { readonly request: KeptRequest }) => {
  const { input = 0, cacheRead = 0, cacheWrite = 0 } = usage ?? {};
  const all = input + cacheRead + cacheWrite;
  return (
    <span className="soft small cut">
      {[
        model,
        failedAttempts && `attempt ${failedAttempts.length + 1}`,
        cost !== undefined && usd(cost),
        all > 0 && `${Math.round((cacheRead / all) * 100)} % cached`,
      ]
        .filter(Boolean)
        .join(' · ')}
    </span>
  );
};

/** The conversation of the newest captured request, which repeats all turns before it. */
const Conversation = ({
  newest,
  requests,
}: {
  readonly newest: KeptRequest;
  readonly requests: readonly KeptRequest[];
}) => {
  const { id, endedAt } = newest;
  const read = useLoad(useCallback((signal: AbortSignal) => readRequest(id, signal, String(endedAt)), [id, endedAt]));
  const { data } = read;
  const notes = useMemo((): readonly ReactNode[] | undefined => {
    if (!data?.capture) return undefined;
    const { conversation } = readExchange(data.summary, data.capture);
    const answers = (conversation?.turns.filter(({ role }) => role === 'assistant').length ?? 0) + 1;
    const answered = requests.filter((one) => one.startedAt <= newest.startedAt && !hasFailed(one));
    // Requests of agents that work side by side don't fit into one conversation.
    if (answered.length !== answers) return undefined;
    return answered.map((request) => <Answered key={request.id} request={request} />);
  }, [data, requests, newest]);
  return (
    <LoadedView what="the conversation" of={read}>
      {({ summary, capture }) =>
        capture ? (
          <ConversationView summary={summary} capture={capture} {...(notes && { notes })} />
        ) : (
          <Notice>The capture of this conversation is no longer kept.</Notice>
        )
      }
    </LoadedView>
  );
};
