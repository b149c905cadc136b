import type { RetryPolicy } from '../config/config.ts';

/** Requests at one provider, from their first try there to the end of their answer. */
export interface Traffic {
  live: number;
  /** Of these, the ones that are on a further try, or wait for it. */
  retrying: number;
}

/**
 * Whether one more request may be on a further try: never more than a share of what is live, so that a provider in trouble isn't
 * asked three times as much; but always a few, or a quiet service would never try again.
 */
export const isInBudget = ({ live, retrying }: Traffic, { budget, floor }: RetryPolicy): boolean =>
  retrying < Math.max(floor, Math.floor(live * budget));
