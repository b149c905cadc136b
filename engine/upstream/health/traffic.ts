import type { RetryPolicy } from '../../config/schema.ts';

/** Requests at one provider, from the first attempt to the end of the answer. */
export interface Traffic {
  live: number;
  /** Those of them that are on a retry or wait for one. */
  retrying: number;
}

/**
 * Whether the retry budget allows one more request to retry. The budget is a share of the live requests, so that retries don't
 * multiply the load on a failing provider, but at least `floor`, so that a quiet service can retry.
 */
export const isWithinBudget = ({ live, retrying }: Traffic, { budget, floor }: RetryPolicy): boolean =>
  retrying < Math.max(floor, Math.floor(live * budget));
