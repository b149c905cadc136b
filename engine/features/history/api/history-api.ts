import type { DocumentedRoute } from '../../../http/documented-route.ts';
import { feedRoutes } from './feed.ts';
import { type HistoryParts, historyRoutes } from './history.ts';
import { type RequestParts, requestRoutes } from './requests.ts';
import { sessionRoutes } from './sessions.ts';

/** All endpoints that read the history of requests. */
export const historyApiRoutes = (
  history: HistoryParts,
  parts: Omit<RequestParts, 'history'> & Omit<Parameters<typeof feedRoutes>[0], 'requests'>,
): readonly DocumentedRoute[] => [
  ...requestRoutes({ ...parts, history }),
  ...feedRoutes(parts),
  ...historyRoutes(history),
  ...sessionRoutes({ history, requests: parts.requests }),
];
