import type { Capture } from '../../api/requests/requests.ts';
import type { TimedRecord } from '../../stream/chunk-records.ts';

/** One moment of a stream: records received, events decoded from them, records sent. */
export interface EventRow {
  /** Index in the list. */
  readonly at: number;
  readonly atMs: number;
  readonly upstream: readonly TimedRecord[];
  readonly model: readonly { readonly step: string; readonly text: string }[];
  readonly client: readonly TimedRecord[];
}

/** Aligns both sides by time: what is sent before the next chunk belongs to the previous one. */
export const alignEvents = (
  upstream: readonly TimedRecord[],
  events: Capture['events'],
  client: readonly TimedRecord[],
): readonly EventRow[] => {
  const moments = [...new Set(upstream.map(({ atMs }) => atMs))].toSorted((one, other) => one - other);
  const early = [...events, ...client].some(({ atMs }) => atMs < (moments[0] ?? Number.POSITIVE_INFINITY));
  // Sent before the first chunk: keep-alives.
  const starts = early ? [Math.min(...[...events, ...client].map(({ atMs }) => atMs)), ...moments] : moments;
  const models = events.map(({ step, atMs, events: list }) => ({
    step,
    atMs,
    text: list.map((one) => JSON.stringify(one)).join('\n'),
  }));
  const rows = starts.map((atMs, at) => ({
    at,
    atMs,
    upstream: [] as TimedRecord[],
    model: [] as (typeof models)[number][],
    client: [] as TimedRecord[],
  }));
  const rowAt = momentFinder(starts);
  for (const record of upstream) rows[rowAt(record.atMs)]?.upstream.push(record);
  for (const batch of models) rows[rowAt(batch.atMs)]?.model.push(batch);
  for (const record of client) rows[rowAt(record.atMs)]?.client.push(record);
  return rows;
};

/** Binary search for the last moment that isn't later. */
const momentFinder =
  (moments: readonly number[]) =>
  (atMs: number): number => {
    let low = 0;
    let high = moments.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((moments[middle] ?? 0) <= atMs) low = middle;
      else high = middle - 1;
    }
    return low;
  };
