import type {
  HistoryCounts,
  HistoryExtent,
  HistoryPage,
  KeptRequest,
} from '../../../../engine/features/record/schema.ts';
import { call, failure, send } from '../call.ts';

export type { HistoryCounts, HistoryExtent, KeptRequest };

/** How many requests one page shows. */
const pageRequests = 100;

/** The members of a search, by their names in the query. */
export type HistoryQuery = Readonly<Record<string, string>>;

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

/** How many requests there are of each kind; an empty member doesn't restrict. */
export const readHistoryCounts = (query: HistoryQuery, signal?: AbortSignal): Promise<HistoryCounts> =>
  call('/api/history/counts', {
    query: Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '')),
    signal,
  });

/** How much is kept on disk. */
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
