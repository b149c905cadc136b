import type { BreakerPolicy, KeyPolicy } from '../config/config.ts';
import {
  afterFault,
  afterNothing,
  afterProbe,
  afterService,
  type Breaker,
  breakerState,
  breakerWaitMs,
  closedBreaker,
} from './breaker.ts';
import type { Rest } from './key-ring.ts';
import type { ProviderHealth } from './provider-health.ts';
import type { Verdict } from './verdict.ts';

/** A try that has ended in a fault. */
export interface FailedTry {
  readonly verdict: Verdict;
  /** The key that was used. */
  readonly key: string;
  /** It was the one request that an open breaker let through. */
  readonly probe: boolean;
  /** How long the upstream asks to wait, in milliseconds. */
  readonly askedMs: number | undefined;
}

/** What the configuration says about leaving models and keys alone. */
export interface HealthPolicy {
  readonly breaker: BreakerPolicy;
  readonly keys: KeyPolicy;
}

/** An upstream that asks for more than this, in milliseconds, is looked at again all the same. */
const longestRestMs = 3_600_000;

/** What is known of one model of a provider. */
export class ModelHealth {
  readonly provider: ProviderHealth;
  /** Rate limits hold for a key and a model; so may a lack of permission. */
  readonly #rests = new Map<string, Rest>();
  #breaker: Breaker = closedBreaker;

  constructor(provider: ProviderHealth) {
    this.provider = provider;
  }

  get breaker(): Breaker {
    return this.#breaker;
  }

  /** Lets a request through, or says how long, in milliseconds, nobody is. */
  admit(nowMs: number, policy: BreakerPolicy): { readonly probe: boolean; readonly waitMs: number } {
    if (this.#breaker === closedBreaker) return passing;
    const state = breakerState(this.#breaker, nowMs, policy);
    if (state === 'open') return { probe: false, waitMs: breakerWaitMs(this.#breaker, nowMs, policy) };
    if (state === 'closed') return passing;
    this.#breaker = afterProbe(this.#breaker, nowMs);
    return { probe: true, waitMs: 0 };
  }

  /** Why this key isn't to be used now. */
  restOf(key: string, nowMs: number): Rest | undefined {
    const rest = this.#rests.get(key);
    if (rest === undefined || rest.untilMs <= nowMs) return this.provider.restOf(key, nowMs);
    return rest;
  }

  /** An answer has come. */
  served(probe: boolean): void {
    this.#breaker = afterService(this.#breaker, probe);
  }

  /** The try told nothing: its client left. */
  left(probe: boolean): void {
    this.#breaker = afterNothing(this.#breaker, probe);
  }

  /** Learns from a fault. Faults that clients bring about, or that we do, teach nothing. */
  failed({ verdict, key, probe, askedMs }: FailedTry, nowMs: number, { breaker, keys }: HealthPolicy): void {
    if (verdict === 'passing' || verdict === 'lasting') {
      this.#breaker = afterFault(this.#breaker, probe, nowMs, breaker);
      return;
    }
    this.#breaker = afterNothing(this.#breaker, probe);
    if (verdict === 'limited') {
      const restMs = Math.min(askedMs ?? keys.limitedMs, longestRestMs);
      this.#rests.set(key, { why: 'limited', untilMs: nowMs + restMs });
    } else if (verdict === 'forbidden') {
      this.#rests.set(key, { why: 'forbidden', untilMs: nowMs + keys.refusedMs });
    } else if (verdict === 'refused') {
      this.provider.refused(key, { why: 'refused', untilMs: nowMs + keys.refusedMs });
    }
  }
}

const passing = { probe: false, waitMs: 0 };
