import { useCallback } from 'react';
import { createStore } from '../state/store.ts';
import { listRequests, type RequestList, type RequestSummary } from './requests.ts';
import { type Loaded, useLoad } from './use-load.ts';

/** How many are kept: the same as the gateway keeps. */
const most = 1_000;

/** The newest list that was loaded; it stays while other pages are shown. */
const known = createStore<RequestList | undefined>(undefined);

/** Loads the requests that finished since the last time. */
const loadRecentRequests = async (signal?: AbortSignal): Promise<RequestList> => {
  const before = known.get();
  const list = await listRequests(before?.newest, signal);
  const next = before ? merge(before, list) : list;
  known.set(next);
  return next;
};

/** The last finished requests, newest first; with `everyMs`, polled for new ones. `forget` drops them all. */
export const useRecentRequests = (everyMs?: number): Loaded<RequestList> & { readonly forget: () => void } => {
  const loaded = useLoad(loadRecentRequests, everyMs);
  const { reload } = loaded;
  const forget = useCallback(() => {
    known.set(undefined);
    reload();
  }, [reload]);
  return { ...loaded, data: loaded.data ?? known.get(), forget };
};

/** A restarted gateway numbers from the beginning; a cleared one has no requests. */
const merge = (before: RequestList, now: RequestList): RequestList => {
  if (now.newest < before.newest) return { ...now, newest: 0, requests: [] };
  const seen = new Set(before.requests.map(({ n }) => n));
  const fresh = now.requests.filter(({ n }) => !seen.has(n));
  // The same list as before if nothing is new, so that nothing is recomputed.
  const requests: readonly RequestSummary[] =
    fresh.length === 0 ? before.requests : [...fresh, ...before.requests].slice(0, most);
  return { ...now, requests };
};
