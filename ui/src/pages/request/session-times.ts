import { endOf, hasFailed, type KeptRequest } from '../../api/requests/summary.ts';

/** A request in the time of its session, which pauses are no part of. All in milliseconds. */
export interface SessionTime {
  readonly request: KeptRequest;
  /** Since the first request began. */
  readonly atMs: number;
  /** Until the first byte of the answer. */
  readonly waitMs: number;
  readonly streamMs: number;
  /** From its end to the client's next request, where that brings results of tools. */
  toolsMs: number;
}

/** The times of requests, in the order in which they began. What lies between them without tools is a pause: the user's own time. */
export const sessionTimes = (
  requests: readonly KeptRequest[],
): { readonly times: readonly SessionTime[]; readonly pausesMs: number } => {
  const times: SessionTime[] = [];
  const begin = requests[0]?.startedAt ?? 0;
  let pausesMs = 0;
  // The one that ended last: others may have ended before it.
  let last: SessionTime | undefined;
  for (const request of requests) {
    const gapMs = last === undefined ? 0 : Math.max(0, request.startedAt - endOf(last.request));
    if (last && request.tools?.length && !hasFailed(last.request)) last.toolsMs = gapMs;
    else pausesMs += gapMs;
    const { startedAt, durationMs, firstByteMs = durationMs } = request;
    const waitMs = Math.min(firstByteMs, durationMs);
    const time = { request, atMs: startedAt - begin - pausesMs, waitMs, streamMs: durationMs - waitMs, toolsMs: 0 };
    times.push(time);
    if (last === undefined || endOf(request) >= endOf(last.request)) last = time;
  }
  return { times, pausesMs };
};
