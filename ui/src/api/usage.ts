import type { UsageReport } from '../../../engine/features/usage/schema.ts';
import { call, failure, send } from './call.ts';

export type { UsageReport };

export type UsageGroup = UsageReport['by'];
/** The steps of charts. */
export type ChartStep = Exclude<UsageReport['step'], '5s' | 'none'>;

/** The query of a usage report. */
interface UsageQuery {
  /** Its start, as a time before now: `7d`. */
  readonly from: string;
  /** Its end, as a time before now; default: now. */
  readonly to?: string;
  readonly by: UsageGroup | `${UsageGroup},${UsageGroup}`;
  readonly step: UsageReport['step'];
  /** Offset from UTC of the clock by which days and months begin, in minutes. */
  readonly offset?: number;
}

/** Requests, tokens and cost over time. */
export const readUsage = (query: UsageQuery, signal?: AbortSignal): Promise<UsageReport> =>
  call('/api/usage', { query: { ...query }, signal });

/** The same as CSV. */
export const readUsageCsv = async ({ from, by, step }: UsageQuery): Promise<string> => {
  const response = await send('/api/usage', { query: { from, by, step, format: 'csv' }, isSlow: true });
  if (!response.ok) throw await failure(response);
  return response.text();
};
