import type { ReplayRequest } from '../../../../admin/schema.ts';
import type {
  AnsweredNodes,
  Capture,
  RequestDetail as CapturedRequest,
  Chunk,
  SummaryLoss as Loss,
  RequestList,
  RequestSummary,
} from '../../../../engine/features/record/schema.ts';
import { call, send } from '../call.ts';

export type { AnsweredNodes, Capture, CapturedRequest, Chunk, Loss, RequestList, RequestSummary };

/** Token counts, as far as they are known. */
export type Usage = NonNullable<RequestSummary['usage']>;

/** Whether so many of them failed that someone should look: a quarter. */
export const isFailing = ({ requests, failed }: { readonly requests: number; readonly failed: number }): boolean =>
  failed > 0 && failed * 4 >= requests;

/** Finished requests with a higher number than `after`. */
export const listRequests = (after?: number, signal?: AbortSignal): Promise<RequestList> =>
  call('/api/requests', { query: { after, limit: 1000 }, signal });

/** One request. `endedAt`: when it ended, if it is kept on disk. Fails with status 404 when nothing is known of it. */
export const readRequest = (id: string, signal?: AbortSignal, endedAt?: string): Promise<CapturedRequest> =>
  call(`/api/requests/${encodeURIComponent(id)}`, { query: { endedAt }, signal });

/** Clears the list of recent requests and the captures; the history on disk stays. */
export const clearRequests = (): Promise<{ readonly message: string }> => call('/api/requests', { method: 'DELETE' });

/** Runs the recorded upstream bytes through today's graph: the answer as that client would get it. */
export const replayRequest = (id: string, options: Required<ReplayRequest>, signal?: AbortSignal): Promise<Response> =>
  send(`/api/requests/${encodeURIComponent(id)}/replay`, { method: 'POST', body: options, signal });
