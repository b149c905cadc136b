import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { isAbort, wordError } from '../../api/api-error.ts';
import { gatewayNowMs } from '../../api/clock.ts';
import { type Activity, readActivity } from '../../api/requests/activity.ts';
import type { FeedEvent } from '../../api/requests/feed.ts';
import {
  type HistoryFacets,
  type HistoryHistogram,
  readFacets,
  readFailures,
  readHistogram,
  searchHistory,
} from '../../api/requests/history.ts';
import type { RequestList, RequestSummary } from '../../api/requests/requests.ts';
import { endOf } from '../../api/requests/summary.ts';
import { useFeed } from '../../api/requests/use-feed.ts';
import { takeRequests, useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { givenIn, passes, type RequestFilter } from './request-filter.ts';

/** A request of the list; `endedAt`: of those that are read from disk. */
export type ListedRequest = RequestSummary & { readonly endedAt?: number };

/** What ended before the list in memory, as far as it was read. */
interface Older {
  /** What it was asked for. */
  readonly key: string;
  readonly requests: readonly ListedRequest[];
  /** Goes on there; null: there is no more. */
  readonly next: string | null;
  /** What is known of the list in memory reaches back to here, in milliseconds since 1970. */
  readonly toMs: number;
}

/** The list, and what goes on. */
export interface Requests {
  /** Those of the list in memory that pass, newest first; `undefined`: not known yet. */
  readonly live: readonly ListedRequest[] | undefined;
  /** Those before them, as far as they were read. */
  readonly older: readonly ListedRequest[];
  /** Whether there may be more before. */
  readonly hasMore: boolean;
  /** Reads more of them. */
  readonly readMore: () => void;
  readonly isReading: boolean;
  readonly list: RequestList | undefined;
  readonly activity: Activity | undefined;
  /** Why nothing new comes, or nothing older. */
  readonly error: string | undefined;
  readonly olderError: string | undefined;
  readonly reload: () => void;
}

/** Live requests on top of those that are kept on disk, as one list; sorted by a figure, those on disk alone. */
export const useRequests = (filter: RequestFilter, sort: string): Requests => {
  const [fed, setFed] = useState<Activity>();
  const feed = useFeed({ topics: 'requests,activity' }, (event: FeedEvent) => {
    if (event.type === 'requests') takeRequests(event.data);
    else if (event.type === 'activity') setFed(event.data);
  });
  const isMissing = feed === 'missing';
  const asked = useLoad(readNow, 1_000, isMissing);
  const recent = useRecentRequests(isMissing ? 'poll' : 'feed');
  const all = recent.data?.requests;
  // The filter's times are relative to when the list changes.
  const isWhole = Object.keys(givenIn(filter)).length === 0;
  const live = useMemo(
    () =>
      sort !== '' ? all && none : isWhole ? all : all?.filter((request) => passes(request, filter, gatewayNowMs())),
    [all, filter, isWhole, sort],
  );
  const oldest = all?.at(-1);
  const older = useOlder(filter, sort, sort === '' && oldest ? endOf(oldest) : undefined, all !== undefined);
  const seen = useMemo(() => new Set(live?.map(({ id }) => id)), [live]);
  const before = useMemo(() => older.requests.filter(({ id }) => !seen.has(id)), [older.requests, seen]);
  return {
    ...older,
    live,
    older: before,
    list: recent.data,
    activity: isMissing ? (asked.data ?? fed) : fed,
    error: isMissing ? (asked.error ?? recent.error) : undefined,
    reload() {
      asked.reload();
      recent.reload();
    },
  };
};

const readNow = (signal: AbortSignal): Promise<Activity> => readActivity(signal);

const none: readonly never[] = [];

/** Reads what is kept on disk from before the list in memory, page by page. */
const useOlder = (
  filter: RequestFilter,
  sort: string,
  oldestMs: number | undefined,
  isReady: boolean,
): Pick<Requests, 'hasMore' | 'readMore' | 'isReading' | 'olderError'> & {
  readonly requests: readonly ListedRequest[];
} => {
  const [older, setOlder] = useState<Older>();
  const [error, setError] = useState<string>();
  const reading = useRef<AbortController>(undefined);
  const [isReading, setReading] = useState(false);
  const query = { ...givenIn(filter), ...(sort !== '' && { sort }) };
  const key = JSON.stringify(query);
  // The list in memory has dropped some since: there would be a gap.
  const isWhole =
    older !== undefined && older.key === key && (oldestMs === undefined || oldestMs <= older.toMs + slackMs);
  const known = isWhole ? older : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what another filter asked for is given up
  useEffect(() => {
    setError(undefined);
    return () => reading.current?.abort();
  }, [key]);
  const readMore = useCallback(() => {
    if (!isReady || (reading.current && !reading.current.signal.aborted)) return;
    const leaving = new AbortController();
    reading.current = leaving;
    setReading(true);
    setError(undefined);
    const toMs = known?.toMs ?? oldestMs ?? gatewayNowMs();
    const given: Record<string, string> = JSON.parse(key);
    // What ends in between is in both, and shown once.
    const until =
      oldestMs === undefined || given.to !== undefined ? {} : { to: new Date(toMs + slackMs).toISOString() };
    searchHistory({ ...given, ...until }, known?.next ?? undefined, leaving.signal).then(
      ({ requests, next }) => {
        if (leaving.signal.aborted) return;
        setOlder({ key, toMs, next, requests: [...(known?.requests ?? none), ...requests] });
        reading.current = undefined;
        setReading(false);
      },
      (failed: unknown) => {
        // Another one has begun since.
        if (reading.current !== leaving) return;
        reading.current = undefined;
        setReading(false);
        if (!isAbort(failed)) setError(wordError(failed));
      },
    );
  }, [isReady, known, oldestMs, key]);
  return {
    requests: known?.requests ?? none,
    hasMore: isReady && (known === undefined || known.next !== null),
    readMore,
    isReading,
    olderError: error,
  };
};

/** Clocks of the list and of the files differ by less, in milliseconds. */
const slackMs = 2_000;

/** How often what is summed up is read, in milliseconds. */
const sumsEveryMs = 10_000;

/** What a filter's requests are summed up to. */
const useSums = <T>(
  read: (query: ReturnType<typeof givenIn>, signal: AbortSignal) => Promise<T>,
  filter: RequestFilter,
) =>
  useLoad(
    useCallback((signal: AbortSignal) => read(givenIn(filter), signal), [read, filter]),
    sumsEveryMs,
  ).data;

/** How many requests there are of each kind, with the filter. */
export const useFacets = (filter: RequestFilter): HistoryFacets | undefined => useSums(readFacets, filter);

/** The requests over time, with the filter, in so many bars. */
export const useHistogram = (filter: RequestFilter, bars: number): HistoryHistogram | undefined =>
  useSums(
    useCallback((query, signal) => readHistogram(query, bars, signal), [bars]),
    filter,
  );

/** The failed requests by message, with the filter. */
export const useFailures = (filter: RequestFilter) => useSums(readFailures, filter)?.failures;
