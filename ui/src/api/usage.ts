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
  readonly by: UsageGroup;
  readonly step: UsageReport['step'];
}

/** Requests, tokens and cost over time. */
export const readUsage = ({ from, by, step }: UsageQuery, signal?: AbortSignal): Promise<UsageReport> =>
  call('/api/usage', { query: { from, by, step }, signal });

/** The same as CSV. */
export const readUsageCsv = async ({ from, by, step }: UsageQuery): Promise<string> => {
  const response = await send('/api/usage', { query: { from, by, step, format: 'csv' }, isSlow: true });
  if (!response.ok) throw await failure(response);
  return response.text();
};
