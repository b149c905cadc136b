import type { FeedLog, FeedRequests } from '../../../../engine/features/record/schema.ts';
import { failure, send } from '../call.ts';
import { parseJson } from '../json.ts';
import type { Activity } from './activity.ts';
import { sseReader } from './sse-records.ts';

/** An event of the feed. */
export type FeedEvent =
  | { readonly type: 'requests'; readonly data: FeedRequests }
  | { readonly type: 'activity' | 'traffic'; readonly data: Activity }
  | { readonly type: 'log'; readonly data: FeedLog };

/** The topics of a feed, as in the query of `GET /api/feed`. */
export type FeedQuery = Readonly<Record<string, string | number>>;

/** `missing`: no events arrive; what a page shows must be asked for. */
export type FeedState = 'opening' | 'live' | 'missing';

/** A feed without a first event after so long is missing, in milliseconds: something on the way holds back streams. */
const firstEventMs = 10_000;

/** The shortest and the longest time until a feed that ended is opened again, in milliseconds. */
const firstRetryMs = 500;
const lastRetryMs = 15_000;

/**
 * Follows the feed while the tab is visible. One that ends is opened again, later each time, and begins with the whole state. Returns a
 * function that stops it.
 */
export const followFeed = (
  query: FeedQuery,
  take: (event: FeedEvent) => void,
  onState: (state: FeedState) => void,
): (() => void) => {
  let stream: AbortController | undefined;
  let timer: number | undefined;
  let retryMs = firstRetryMs;
  const open = async (): Promise<void> => {
    const opened = new AbortController();
    stream = opened;
    const patience = window.setTimeout(() => opened.abort(), firstEventMs);
    try {
      await readFeed(query, opened.signal, (event) => {
        window.clearTimeout(patience);
        retryMs = firstRetryMs;
        onState('live');
        take(event);
      });
    } catch {
      // The page falls back to separate requests, which report the error.
    }
    window.clearTimeout(patience);
    if (stream !== opened) return;
    stream = undefined;
    onState('missing');
    timer = window.setTimeout(open, retryMs);
    retryMs = Math.min(lastRetryMs, retryMs * 2);
  };
  const close = (): void => {
    window.clearTimeout(timer);
    const closing = stream;
    stream = undefined;
    closing?.abort();
  };
  const onVisibility = (): void => {
    close();
    if (!document.hidden) void open();
  };
  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    close();
  };
};

/** Resolves when the stream has ended. Throws an `ApiError`, or the abort of `signal`. */
const readFeed = async (query: FeedQuery, signal: AbortSignal, take: (event: FeedEvent) => void): Promise<void> => {
  const response = await send('/api/feed', { query, signal });
  if (!response.ok || !response.body) throw await failure(response);
  const read = sseReader();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) return;
    for (const { event, data } of read(value)) {
      // The gateway's compiler holds its events to the schemas whose types this folder takes.
      take({ type: event, data: parseJson(data) } as FeedEvent);
    }
  }
};
