import type { BreakerPolicy } from '../config/config.ts';

/** Keeps requests from a model that keeps failing: a value that changes only where something goes wrong or is mended. */
export interface Breaker {
  /** Faults in a row. */
  readonly faults: number;
  /** Until then nobody is let through, in milliseconds of the service's clock; 0 while it is closed. */
  readonly openUntilMs: number;
  /** When the request that tries was let through; 0 when none is under way. */
  readonly probedAtMs: number;
}

/** As every breaker begins. */
export const closedBreaker: Breaker = { faults: 0, openUntilMs: 0, probedAtMs: 0 };

/** How it stands. `half-open`: one request may try. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** How a breaker stands at this time. A request that tries for longer than the breaker was open makes room for another. */
export const breakerState = (breaker: Breaker, nowMs: number, { openMs }: BreakerPolicy): BreakerState => {
  if (breaker.openUntilMs === 0) return 'closed';
  if (nowMs < breaker.openUntilMs) return 'open';
  return breaker.probedAtMs !== 0 && nowMs < breaker.probedAtMs + openMs ? 'open' : 'half-open';
};

/** Milliseconds until a request may try; 0 where one may now. */
export const breakerWaitMs = (breaker: Breaker, nowMs: number, policy: BreakerPolicy): number =>
  breakerState(breaker, nowMs, policy) === 'open'
    ? Math.max(breaker.openUntilMs, breaker.probedAtMs === 0 ? 0 : breaker.probedAtMs + policy.openMs) - nowMs
    : 0;

/** The one request that tries is on its way. */
export const afterProbe = (breaker: Breaker, nowMs: number): Breaker => ({ ...breaker, probedAtMs: nowMs });

/** A request was served. What began before the breaker opened tells nothing of now: only the one that tries closes it. */
export const afterService = (breaker: Breaker, probe: boolean): Breaker =>
  breaker.openUntilMs !== 0 && !probe ? breaker : closedBreaker;

/** The upstream failed. */
export const afterFault = (breaker: Breaker, probe: boolean, nowMs: number, policy: BreakerPolicy): Breaker => {
  if (breaker.openUntilMs !== 0 && !probe) return breaker;
  const faults = breaker.faults + 1;
  return { faults, openUntilMs: probe || faults >= policy.faults ? nowMs + policy.openMs : 0, probedAtMs: 0 };
};

/** The request that tried ended without telling anything, since its client left or asked for something impossible. */
export const afterNothing = (breaker: Breaker, probe: boolean): Breaker =>
  probe ? { ...breaker, probedAtMs: 0 } : breaker;
