import type { RequestSummary } from '../../api/requests.ts';
import { median } from './median.ts';

/** Requests that ended within one step of the chart. */
interface Step {
  ended: number;
  readonly firstBytesMs: number[];
}

/** Requests per second and time to first byte, over the last minutes. */
interface TrafficOverTime {
  /** Milliseconds since 1970: the end of each step. */
  readonly times: readonly number[];
  readonly perSecond: readonly number[];
  /** The median; null if nothing ended. */
  readonly firstByteMs: readonly (number | null)[];
}

const stepMs = 5_000;
const steps = 120;

/** The last ten minutes up to `nowMs`, in steps of five seconds. */
export const trafficOverTime = (requests: readonly RequestSummary[], nowMs: number): TrafficOverTime => {
  const last = Math.floor(nowMs / stepMs);
  const list: Step[] = Array.from({ length: steps }, () => ({ ended: 0, firstBytesMs: [] }));
  for (const { startedAt, durationMs, firstByteMs } of requests) {
    const at = list[steps - 1 - (last - Math.floor((startedAt + durationMs) / stepMs))];
    if (!at) continue;
    at.ended += 1;
    if (firstByteMs !== undefined) at.firstBytesMs.push(firstByteMs);
  }
  return {
    times: list.map((_, index) => (last - steps + 1 + index) * stepMs),
    perSecond: list.map(({ ended }) => ended / (stepMs / 1000)),
    firstByteMs: list.map(({ firstBytesMs }) => median(firstBytesMs) ?? null),
  };
};
