import { useCallback, useRef } from 'react';
import { listRequests, type RequestList, type RequestSummary } from '../../api/requests.ts';
import { type Loaded, useLoad } from '../../api/use-load.ts';

/** How many the page keeps: the same as the gateway. */
const most = 1_000;

/** The last finished requests, newest first; polled each second for new ones. `forget` drops them all. */
export const useRequests = (): Loaded<RequestList> & { readonly forget: () => void } => {
  const known = useRef<RequestList>(undefined);
  const load = useCallback(async (signal: AbortSignal): Promise<RequestList> => {
    const before = known.current;
    const list = await listRequests(before?.newest, signal);
    known.current = before ? merge(before, list) : list;
    return known.current;
  }, []);
  const loaded = useLoad(load, 1_000);
  const { reload } = loaded;
  const forget = useCallback(() => {
    known.current = undefined;
    reload();
  }, [reload]);
  return { ...loaded, forget };
};

/** A restarted gateway numbers from the beginning; a cleared one has no requests. */
const merge = (before: RequestList, now: RequestList): RequestList => {
  if (now.newest < before.newest) return { ...now, newest: 0, requests: [] };
  const known = new Set(before.requests.map(({ n }) => n));
  const fresh = now.requests.filter(({ n }) => !known.has(n));
  // The same list as before if nothing is new, so that nothing is recomputed.
  const requests: readonly RequestSummary[] =
    fresh.length === 0 ? before.requests : [...fresh, ...before.requests].slice(0, most);
  return { ...now, requests };
};
