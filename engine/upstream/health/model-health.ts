import type { BreakerPolicy, KeyPolicy } from '../../config/schema.ts';
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
import type { Cooldown } from './choose-key.ts';
import type { FailureClass } from './failure-class.ts';

/** A failed attempt. */
interface FailedAttemptFacts {
  readonly failureClass: FailureClass;
  /** The key of the attempt. */
  readonly key: string;
  /** The attempt was the half-open breaker's probe. */
  readonly probe: boolean;
  /** The request already counts as a fault of this model. */
  readonly counted: boolean;
  /** How long the upstream asks to wait, in milliseconds. */
  readonly askedMs: number | undefined;
}

/** The configured policies for breakers and key cooldowns. */
interface HealthPolicy {
  readonly breaker: BreakerPolicy;
  readonly keys: KeyPolicy;
}

/** The cooldowns of a provider's keys that hold for all its models. */
interface KeyCooldowns {
  readonly cooldownOf: (key: string, nowMs: number) => Cooldown | undefined;
  readonly keyRejected: (key: string, cooldown: Cooldown) => void;
}

/** The longest cooldown that an upstream can ask for, in milliseconds. */
const maxCooldownMs = 3_600_000;

/** The observed health of one model of a provider. */
export class ModelHealth {
  readonly #keys: KeyCooldowns;
  /** Cooldowns of keys for this model: rate limits and missing permissions. */
  readonly #cooldowns = new Map<string, Cooldown>();
  #breaker: Breaker = closedBreaker;

  constructor(keys: KeyCooldowns) {
    this.#keys = keys;
  }

  get breaker(): Breaker {
    return this.#breaker;
  }

  /** Admits a request (`waitMs` 0), or returns the milliseconds until the breaker lets one through. */
  admit(nowMs: number, policy: BreakerPolicy): { readonly probe: boolean; readonly waitMs: number } {
    if (this.#breaker === closedBreaker) return admitted;
    const state = breakerState(this.#breaker, nowMs, policy);
    if (state === 'open') return { probe: false, waitMs: breakerWaitMs(this.#breaker, nowMs, policy) };
    if (state === 'closed') return admitted;
    this.#breaker = afterProbe(this.#breaker, nowMs);
    return { probe: true, waitMs: 0 };
  }

  /** The current cooldown of a key for this model, if any. */
  cooldownOf(key: string, nowMs: number): Cooldown | undefined {
    const cooldown = this.#cooldowns.get(key);
    if (cooldown === undefined || cooldown.untilMs <= nowMs) return this.#keys.cooldownOf(key, nowMs);
    return cooldown;
  }

  /** Called when an attempt succeeds. */
  served(probe: boolean): void {
    this.#breaker = afterService(this.#breaker, probe);
  }

  /** Called when an attempt ends without evidence, as when its client disconnects. */
  left(probe: boolean): void {
    this.#breaker = afterNothing(this.#breaker, probe);
  }

  /**
   * Records a failed attempt. Returns whether it counts as a fault of the upstream, which faults of the client or the gateway
   * don't. A request counts once, however many retries it makes.
   */
  failed(
    { failureClass, key, probe, counted, askedMs }: FailedAttemptFacts,
    nowMs: number,
    { breaker, keys }: HealthPolicy,
  ): boolean {
    if (failureClass === 'transient' || failureClass === 'persistent') {
      if (probe || !counted) this.#breaker = afterFault(this.#breaker, probe, nowMs, breaker);
      return true;
    }
    this.#breaker = afterNothing(this.#breaker, probe);
    if (failureClass === 'rateLimited') {
      const cooldownMs = Math.min(askedMs ?? keys.limitedMs, maxCooldownMs);
      this.#cooldowns.set(key, { why: 'limited', untilMs: nowMs + cooldownMs });
    } else if (failureClass === 'forbidden') {
      this.#cooldowns.set(key, { why: 'forbidden', untilMs: nowMs + keys.refusedMs });
    } else if (failureClass === 'keyRejected') {
      this.#keys.keyRejected(key, { why: 'refused', untilMs: nowMs + keys.refusedMs });
    }
    return false;
  }
}

const admitted = { probe: false, waitMs: 0 };
