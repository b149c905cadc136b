import { feedOperation } from './feed.ts';
import { type HistoryParts, keptOperations } from './history.ts';
import { type RequestParts, requestOperations } from './requests.ts';
import { sessionOperations } from './sessions.ts';

/** All endpoints that read the history of requests. */
export const historyOperations = (
  history: HistoryParts,
  parts: Omit<RequestParts, 'history'> & Omit<Parameters<typeof feedOperation>[0], 'requests'>,
) => ({
  ...requestOperations({ ...parts, history }),
  feed: feedOperation(parts),
  ...keptOperations(history),
  ...sessionOperations({ history, requests: parts.requests }),
});
