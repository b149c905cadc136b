import type { Feature } from '../../feature.ts';
import { openUsageCounter, type UsageCounter, type UsageCounterOptions } from './bucket-files.ts';

/** Counts requests, tokens and cost over time. */
export const openUsage = async (options: UsageCounterOptions): Promise<Feature & UsageCounter> => {
  const counter = await openUsageCounter(options);
  return { ...counter, follow: { ended: counter.add } };
};
