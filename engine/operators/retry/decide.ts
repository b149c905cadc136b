import type { RetryPolicy } from '../../config/schema.ts';
import type { Destination } from '../../config/sections/destination.ts';
import { type Fault, FaultError } from '../../model/fault.ts';
import type { Headers } from '../../model/protocol.ts';
import type { Cooldown } from '../../upstream/health/cooldowns.ts';
import type { FailureClass } from '../../upstream/health/failure-class.ts';

/** The facts on which the decision after a failed attempt depends. */
export interface RetrySituation {
  readonly failureClass: FailureClass;
  /** Part of the answer itself has reached the client. */
  readonly begun: boolean;
  /** Retries at this destination so far. */
  readonly retries: number;
  /** This destination is a fallback. */
  readonly isFallback: boolean;
  /** A further fallback is left. */
  readonly hasFallback: boolean;
  /** Another member of the destination's pool is left. */
  readonly hasMember: boolean;
  /** The provider has another key that isn't cooling down and wasn't used for this request. */
  readonly hasOtherKey: boolean;
  /** The provider has another base URL that hasn't just failed. */
  readonly hasOtherUrl: boolean;
  /** The model's breaker is open. */
  readonly isOpen: boolean;
  /** The provider's retry budget allows a retry. */
  readonly inBudget: boolean;
  /** The upstream says that a retry is useless. */
  readonly isDiscouraged: boolean;
  /** The wait that the upstream asks for, in milliseconds. */
  readonly requestedWaitMs: number | undefined;
  /** Milliseconds that this request has waited between attempts so far, at all destinations. */
  readonly waitedMs: number;
  /** Random, in [0, 1). */
  readonly random: number;
}

/** The action after a failed attempt. */
export type RetryDecision =
  /** The same destination again; `without` what it has refused. */
  | {
      readonly type: 'retry';
      readonly afterMs: number;
      readonly key: 'same' | 'other';
      readonly without?: 'reasoning' | 'compaction' | 'refused';
    }
  /** The next destination. */
  | { readonly type: 'fallback' }
  /** None: the client gets the fault. */
  | { readonly type: 'stop' };

/** Decides what follows a failed attempt. */
export const decide = (situation: RetrySituation, policy: RetryPolicy): RetryDecision => {
  const { failureClass, begun, isFallback, hasFallback, hasMember } = situation;
  if (
    begun ||
    failureClass === 'final' ||
    failureClass === 'forbidden' ||
    (failureClass === 'incompatible' && !isFallback && !hasMember)
  )
    return stop;
  const retry = retryHere(situation, policy);
  if (retry) return retry;
  return hasFallback ? { type: 'fallback' } : stop;
};

const stop: RetryDecision = { type: 'stop' };

const retryHere = (situation: RetrySituation, policy: RetryPolicy): RetryDecision | undefined => {
  const { failureClass, retries, hasFallback, hasMember, hasOtherKey, hasOtherUrl, isOpen, inBudget } = situation;
  const { isDiscouraged, requestedWaitMs, waitedMs, random } = situation;
  if (retries >= policy.attempts || !inBudget || isOpen) return undefined;
  if (hasOtherKey && (failureClass === 'rateLimited' || failureClass === 'keyRejected'))
    return { type: 'retry', afterMs: 0, key: 'other' };
  if (hasOtherUrl && isBaseUrlFailure(failureClass)) return { type: 'retry', afterMs: 0, key: 'same' };
  // Another member can answer at once.
  if (hasMember) return undefined;
  if (isDiscouraged || !(failureClass === 'transient' || failureClass === 'busy' || failureClass === 'rateLimited'))
    return undefined;
  // The limit belongs to the key: without a waiting time from the upstream, the fallback is better.
  if (failureClass === 'rateLimited' && hasFallback && requestedWaitMs === undefined) return undefined;
  const leftMs = policy.waitMs - waitedMs;
  if (requestedWaitMs === undefined) {
    const afterMs = backOffMs(retries, random, policy);
    return afterMs > leftMs ? undefined : { type: 'retry', afterMs, key: 'same' };
  }
  if (requestedWaitMs > (hasFallback ? Math.min(policy.maxMs, leftMs) : leftMs)) return undefined;
  // Never earlier than asked, with jitter, so that clients don't return all at once.
  return { type: 'retry', afterMs: Math.min(leftMs, requestedWaitMs + random * policy.baseMs), key: 'same' };
};

/** Whether the same request may succeed at another base URL of the provider. */
export const isBaseUrlFailure = (failureClass: FailureClass): boolean =>
  failureClass === 'transient' || failureClass === 'persistent';

/** Full jitter: a random part of a span that doubles with each retry. */
const backOffMs = (retries: number, random: number, { baseMs, maxMs }: RetryPolicy): number =>
  random * Math.min(maxMs, baseMs * 2 ** retries);

/**
 * How long an upstream asks to wait, in milliseconds; `undefined` if it doesn't say. `nowMs` counts from 1970.
 * Source: RFC 9110, section 10.2.3 (seconds, or a date); the SDKs of both large vendors (`retry-after-ms`).
 */
export const retryAfterMs = (headers: Headers | undefined, nowMs: number): number | undefined => {
  const exact = headers?.['retry-after-ms']?.trim();
  if (exact !== undefined && decimal.test(exact)) return Number(exact);
  const text = headers?.['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  if (decimal.test(text)) return Number(text) * 1000;
  const at = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
};

/** All forms of an HTTP date begin with the weekday; `Date.parse` alone accepts nearly any text. */
const httpDate = /^[A-Z][a-z]{2,8},? /;
const decimal = /^\d+(?:\.\d+)?$/;

export const nameAndModel = ({ provider, model }: Destination): string => `${provider.name},${model}`;

export const breakerOpen = (destination: Destination, waitMs: number): FaultError =>
  unavailable(
    `${nameAndModel(destination)} has failed several times in a row and is left alone; it is tried again in ${seconds(waitMs)} s.`,
    'breaker_open',
    waitMs,
  );

export const allKeysCooling = (destination: Destination, { untilMs }: Cooldown, nowMs: number): FaultError =>
  unavailable(
    `${nameAndModel(destination)} has no key that can be used now; the next one in ${seconds(untilMs - nowMs)} s.`,
    'keys_resting',
    untilMs - nowMs,
  );

const unavailable = (message: string, code: string, waitMs: number): FaultError =>
  new FaultError({ kind: 'unavailable', message, code, headers: { 'retry-after': String(seconds(waitMs)) } });

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** A fault in one word: the gateway's own code if it has one, else the status, else the kind. */
export const outcomeOf = ({ kind, status, code }: Fault): string => {
  if (kind === 'unavailable' && code !== undefined) return code;
  return status === undefined ? reasonOf(kind) : String(status);
};

/** A fault's kind without the common prefix; a short closed list, fit for a metric's label. */
export const reasonOf = (kind: Fault['kind']): string => kind.replace(/^upstream-/, '');
