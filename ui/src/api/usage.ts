import type { UsageReport } from '../../../engine/features/usage/schema.ts';
import { call, failure, send } from './call.ts';

export type { UsageReport };

export type UsageGroup = UsageReport['by'];
/** The steps of charts. */
export type ChartStep = Exclude<UsageReport['step'], '5s' | 'none'>;

/** What a report of usage is about. */
interface UsageQuery {
  /** How long ago it begins: `7d`. */
  readonly from: string;
  /** How long ago it ends; default: now. */
  readonly to?: string;
  readonly by: UsageGroup | `${UsageGroup},${UsageGroup}`;
  readonly step: UsageReport['step'];
  /** How far the clock by which days and months begin is ahead of UTC, in minutes. */
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
