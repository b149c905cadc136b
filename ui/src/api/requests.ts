import type { ReplayRequest } from '../../../admin/schema.ts';
import type {
  Capture,
  RequestDetail as CapturedRequest,
  Chunk,
  SummaryLoss as Loss,
  MachinesHeard,
  RequestList,
  RequestSummary,
} from '../../../engine/observe/history/schema.ts';
import { ApiError } from './api-error.ts';
import { call, failureIn, send, unreadable } from './call.ts';
import { isJsonObject, type JsonObject, parseObject } from './json.ts';

export type { Capture, CapturedRequest, Chunk, Loss, MachinesHeard, RequestList, RequestSummary };

/** Token counts, as far as they are known. */
export type Usage = NonNullable<RequestSummary['usage']>;

/** Whether it was answered with an error, or its response broke off; not if the client left. */
export const hasFailed = ({ status, fault }: RequestSummary): boolean =>
  status !== 499 && (status >= 400 || fault !== undefined);

/** Finished requests with a higher number than `after`. */
export const listRequests = (after?: number, signal?: AbortSignal): Promise<RequestList> =>
  call('/api/requests', { query: { after, limit: 1000 }, signal });

/** One request. `endedAt`: when it ended, if it is kept on disk. Fails with status 404 when nothing is known of it. */
export const readRequest = async (id: string, signal?: AbortSignal, endedAt?: string): Promise<CapturedRequest> => {
  const response = await send(`/api/requests/${encodeURIComponent(id)}`, { query: { endedAt }, signal });
  const text = await response.text();
  // One that wasn't captured is told with status 404 too, but with what is known of it.
  const body = parseObject(text);
  if (isDetail(body)) return body;
  throw response.ok ? new ApiError(response.status, unreadable) : failureIn(response.status, text);
};

const isDetail = (body: JsonObject | undefined): body is JsonObject & CapturedRequest => isJsonObject(body?.summary);

/** Clears the list of recent requests and the captures; the history on disk stays. */
export const clearRequests = (): Promise<{ readonly message: string }> => call('/api/requests', { method: 'DELETE' });

/** Runs the recorded upstream bytes through today's graph: the answer as that client would get it. */
export const replayRequest = (id: string, options: Required<ReplayRequest>, signal?: AbortSignal): Promise<Response> =>
  send(`/api/requests/${encodeURIComponent(id)}/replay`, { method: 'POST', body: options, signal });
