import type { BreakerPolicy } from '../../config/schema.ts';

/** A circuit breaker for one model, as an immutable value. */
export interface Breaker {
  /** Faults in a row. */
  readonly faults: number;
  /** No request passes before this time, in milliseconds of the service's clock; 0 while closed. */
  readonly openUntilMs: number;
  /** When the probe was let through; 0 if there is none. */
  readonly probedAtMs: number;
}

/** The initial state. */
export const closedBreaker: Breaker = { faults: 0, openUntilMs: 0, probedAtMs: 0 };

/** `half-open`: one request, the probe, may pass. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** The state at this time. If the probe takes longer than `openMs`, another one may pass. */
export const breakerState = (breaker: Breaker, nowMs: number, { openMs }: BreakerPolicy): BreakerState => {
  if (breaker.openUntilMs === 0) return 'closed';
  if (nowMs < breaker.openUntilMs) return 'open';
  return breaker.probedAtMs !== 0 && nowMs < breaker.probedAtMs + openMs ? 'open' : 'half-open';
};

/** Milliseconds until a request may pass; 0 if one may now. */
export const breakerWaitMs = (breaker: Breaker, nowMs: number, policy: BreakerPolicy): number =>
  breakerState(breaker, nowMs, policy) === 'open'
    ? Math.max(breaker.openUntilMs, breaker.probedAtMs === 0 ? 0 : breaker.probedAtMs + policy.openMs) - nowMs
    : 0;

/** The breaker after the probe was let through. */
export const afterProbe = (breaker: Breaker, nowMs: number): Breaker => ({ ...breaker, probedAtMs: nowMs });

/** The breaker after a success. Only the probe closes an open breaker: other requests began before it opened. */
export const afterSuccess = (breaker: Breaker, probe: boolean): Breaker =>
  breaker.openUntilMs !== 0 && !probe ? breaker : closedBreaker;

/** The breaker after a fault of the upstream. */
export const afterFault = (breaker: Breaker, probe: boolean, nowMs: number, policy: BreakerPolicy): Breaker => {
  if (breaker.openUntilMs !== 0 && !probe) return breaker;
  const faults = breaker.faults + 1;
  return { faults, openUntilMs: probe || faults >= policy.faults ? nowMs + policy.openMs : 0, probedAtMs: 0 };
};

/** The breaker after a request that proved nothing, as when its client disconnected. */
export const afterInconclusive = (breaker: Breaker, probe: boolean): Breaker =>
  probe ? { ...breaker, probedAtMs: 0 } : breaker;
