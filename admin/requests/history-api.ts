import { HistorySearch } from '../../engine/features/history/files/search-history.ts';
import type { DocumentedRoute } from '../../engine/http/documented-route.ts';
import { feedRoutes } from './feed.ts';
import { type HistoryParts, historyRoutes } from './history.ts';
import { type RequestParts, requestRoutes } from './requests.ts';
import { sessionRoutes } from './sessions.ts';

/** All endpoints that read the history of requests. `folder`: where it is kept. */
export const historyApiRoutes = (
  { folder, ...kept }: Omit<HistoryParts, 'search'> & { readonly folder: string },
  parts: Omit<RequestParts, 'history'> & Omit<Parameters<typeof feedRoutes>[0], 'requests'>,
): readonly DocumentedRoute[] => {
  const history = { ...kept, search: new HistorySearch(folder) };
  return [
    ...requestRoutes({ ...parts, history }),
    ...feedRoutes(parts),
    ...historyRoutes(history),
    ...sessionRoutes({ history, requests: parts.requests }),
  ];
};
