import type { FeedRequests } from '../../../../engine/features/record/schema.ts';
import { createStore, useStore } from '../../state/store.ts';
import { type Loaded, useLoad } from '../use-load.ts';
import { listRequests, type RequestList, type RequestSummary } from './requests.ts';

/** Maximum kept, the same as the gateway's. */
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

/** Takes over what the feed has of requests. */
export const takeRequests = ({ whole, ...list }: FeedRequests): void => {
  const before = known.get();
  known.set(before && !whole ? merge(before, list) : list);
};

/** The way of keeping the list up to date: by the feed, by asking each second, or not at all after the first time. */
type Updates = 'feed' | 'poll' | 'once';

/** The last finished requests, newest first. `forget` drops them all. */
export const useRecentRequests = (updates: Updates = 'once'): Loaded<RequestList> & { readonly forget: () => void } => {
  const loaded = useLoad(loadRecentRequests, updates === 'poll' ? 1_000 : undefined, updates !== 'feed');
  const list = useStore(known);
  return { ...loaded, data: list, forget: forgetRecentRequests };
};

/** Drops the loaded list, after the gateway has cleared its own. */
export const forgetRecentRequests = (): void => {
  const before = known.get();
  if (before) known.set({ ...before, requests: [] });
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
