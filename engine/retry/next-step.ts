import type { RetryPolicy } from '../config/config.ts';
import type { Verdict } from './verdict.ts';

/** What is known when a try has failed. */
export interface Situation {
  readonly verdict: Verdict;
  /** Something of the answer itself has reached the client. */
  readonly begun: boolean;
  /** Further tries made at this destination so far. */
  readonly extra: number;
  /** This destination takes the place of another one. */
  readonly isFallback: boolean;
  /** There is another one after it. */
  readonly hasFallback: boolean;
  /** This provider has another key that isn't resting and wasn't tried for this request. */
  readonly hasOtherKey: boolean;
  /** The model has failed so often that it is left alone from now on. */
  readonly isOpen: boolean;
  /** The provider's budget allows a further try. */
  readonly inBudget: boolean;
  /** The upstream says that asking again is of no use. */
  readonly isDiscouraged: boolean;
  /** How long the upstream asks to wait, in milliseconds. */
  readonly askedMs: number | undefined;
  /** From 0 up to, but not including, 1. */
  readonly chance: number;
}

/** What comes after a failed try. */
export type Step =
  /** The same destination again. */
  | { readonly type: 'again'; readonly afterMs: number; readonly key: 'same' | 'other' }
  /** The next destination. */
  | { readonly type: 'fallback' }
  /** Nothing: the client is told. */
  | { readonly type: 'end' };

/** Decides what comes after a failed try. */
export const nextStep = (situation: Situation, policy: RetryPolicy): Step => {
  const { verdict, begun, isFallback, hasFallback } = situation;
  if (begun || verdict === 'final' || verdict === 'forbidden' || (verdict === 'unfit' && !isFallback)) return end;
  const again = furtherTry(situation, policy);
  if (again) return again;
  return hasFallback ? { type: 'fallback' } : end;
};

const end: Step = { type: 'end' };

const furtherTry = (situation: Situation, policy: RetryPolicy): Step | undefined => {
  const { verdict, extra, hasFallback, hasOtherKey, isOpen, inBudget, isDiscouraged, askedMs, chance } = situation;
  if (extra >= policy.attempts || !inBudget || isOpen) return undefined;
  if (hasOtherKey && (verdict === 'limited' || verdict === 'refused'))
    return { type: 'again', afterMs: 0, key: 'other' };
  if (isDiscouraged || !(verdict === 'passing' || verdict === 'busy' || verdict === 'limited')) return undefined;
  // A limit is that of the key: without a time that is worth waiting for, somebody else is asked.
  if (verdict === 'limited' && hasFallback && askedMs === undefined) return undefined;
  if (askedMs === undefined) return { type: 'again', afterMs: backOffMs(extra, chance, policy), key: 'same' };
  if (askedMs > (hasFallback ? Math.min(policy.maxMs, policy.retryAfterMs) : policy.retryAfterMs)) return undefined;
  // Never earlier than asked, and not all at the same moment.
  return { type: 'again', afterMs: askedMs + chance * policy.baseMs, key: 'same' };
};

/** Full jitter: any part of a span that doubles with each try. */
const backOffMs = (extra: number, chance: number, { baseMs, maxMs }: RetryPolicy): number =>
  chance * Math.min(maxMs, baseMs * 2 ** extra);
