import type {
  HistoryExtent,
  HistoryFacets,
  HistoryFailures,
  HistoryHistogram,
  HistoryPage,
  KeptRequest,
} from '../../../../engine/features/record/schema.ts';
import { call, failure, send } from '../call.ts';

export type { HistoryExtent, HistoryFacets, HistoryHistogram, KeptRequest };

/** Number of requests on one page. */
const pageRequests = 100;

/** The members of a search, by their names in the query. */
type HistoryQuery = Readonly<Record<string, string>>;

/** A page of the requests that are kept on disk. `before`: the `next` of the page before. */
export const searchHistory = async (
  query: HistoryQuery,
  before: string | undefined,
  signal?: AbortSignal,
): Promise<HistoryPage> => {
  const requests: KeptRequest[] = [];
  let from = before;
  // A search that finds little ends before the page is full.
  for (;;) {
    const page: HistoryPage = await call('/api/history', {
      query: { ...query, limit: pageRequests - requests.length, before: from },
      signal,
    });
    requests.push(...page.requests);
    if (page.next === null || requests.length >= pageRequests) return { ...page, requests };
    from = page.next;
  }
};

/** How many requests of a search there are of each value: each facet counts what passes the other filters. */
export const readFacets = (query: HistoryQuery, signal?: AbortSignal): Promise<HistoryFacets> =>
  call('/api/history/facets', { query, signal });

/** The requests of a search over time. */
export const readHistogram = (query: HistoryQuery, bars: number, signal?: AbortSignal): Promise<HistoryHistogram> =>
  call('/api/history/histogram', { query: { ...query, bars }, signal });

/** How many messages of failures are read. */
const mostFailures = 6;

/** The failed requests of a search by their messages, the most frequent first. */
export const readFailures = (query: HistoryQuery, signal?: AbortSignal): Promise<HistoryFailures> =>
  call('/api/history/failures', { query: { ...query, limit: mostFailures }, signal });

/** Size of the history on disk. */
export const readHistoryExtent = (signal?: AbortSignal): Promise<HistoryExtent> =>
  call('/api/history/extent', { signal });

/** Deletes all that is kept on disk, and the list of recent requests. */
export const deleteHistory = (): Promise<{ readonly message: string }> => call('/api/history', { method: 'DELETE' });

/** The requests of a search as a file. */
export const exportHistory = async (query: HistoryQuery, format: 'jsonl' | 'har'): Promise<Blob> => {
  const response = await send('/api/history/export', { query: { ...query, format }, isSlow: true });
  if (!response.ok) throw await failure(response);
  return response.blob();
};
