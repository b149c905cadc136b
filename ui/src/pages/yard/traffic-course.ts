import type { RequestSummary } from '../../api/requests.ts';
import { median } from './median.ts';

/** Requests that ended within one stretch of time. */
interface Stretch {
  ended: number;
  readonly firstBytesMs: number[];
}

/** Requests per second and their time to the first byte, over the last minutes. */
interface TrafficCourse {
  /** Milliseconds since 1970: the end of each stretch. */
  readonly times: readonly number[];
  readonly perSecond: readonly number[];
  /** The median; null where nothing ended. */
  readonly firstByteMs: readonly (number | null)[];
}

const stretchMs = 5_000;
const stretches = 120;

/** What ended in the last ten minutes, in stretches of five seconds up to `nowMs`. */
export const trafficCourse = (requests: readonly RequestSummary[], nowMs: number): TrafficCourse => {
  const last = Math.floor(nowMs / stretchMs);
  const list: Stretch[] = Array.from({ length: stretches }, () => ({ ended: 0, firstBytesMs: [] }));
  for (const { startedAt, durationMs, firstByteMs } of requests) {
    const at = list[stretches - 1 - (last - Math.floor((startedAt + durationMs) / stretchMs))];
    if (!at) continue;
    at.ended += 1;
    if (firstByteMs !== undefined) at.firstBytesMs.push(firstByteMs);
  }
  return {
    times: list.map((_, index) => (last - stretches + 1 + index) * stretchMs),
    perSecond: list.map(({ ended }) => ended / (stretchMs / 1000)),
    firstByteMs: list.map(({ firstBytesMs }) => median(firstBytesMs) ?? null),
  };
};
