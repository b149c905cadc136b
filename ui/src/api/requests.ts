import type { ReplayRequest } from '../../../admin/schema.ts';
import type {
  Capture,
  RequestDetail as CapturedRequest,
  Chunk,
  SummaryLoss as Loss,
  RequestList,
  RequestSummary,
} from '../../../engine/observe/history/schema.ts';
import { call, failureIn, send } from './call.ts';
import { isJsonObject } from './json.ts';

export type { Capture, CapturedRequest, Chunk, Loss, RequestList, RequestSummary };

/** Token counts, as far as they are known. */
export type Usage = NonNullable<RequestSummary['usage']>;

/** Finished requests with a higher number than `after`. */
export const listRequests = (after?: number, signal?: AbortSignal): Promise<RequestList> =>
  call('/api/requests', { query: { after, limit: 1000 }, signal });

/** One request. Fails with status 404 when nothing is known of it. */
export const readRequest = async (id: string, signal?: AbortSignal): Promise<CapturedRequest> => {
  const response = await send(`/api/requests/${encodeURIComponent(id)}`, { signal });
  const text = await response.text();
  const body = parse(text);
  // One that wasn't captured is told with status 404 too, but with what is known of it.
  if (isJsonObject(body) && isJsonObject(body.summary)) return JSON.parse(text);
  throw failureIn(response.status, text);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Forgets all finished requests and captures. */
export const clearRequests = (): Promise<{ readonly message: string }> => call('/api/requests', { method: 'DELETE' });

/** Runs the recorded upstream bytes through today's graph: the answer as that client would get it. */
export const replayRequest = (id: string, options: Required<ReplayRequest>, signal?: AbortSignal): Promise<Response> =>
  send(`/api/requests/${encodeURIComponent(id)}/replay`, { method: 'POST', body: options, signal });
