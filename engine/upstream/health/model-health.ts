import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { BreakerPolicy, KeyPolicy } from '../../config/schema.ts';
import {
  afterFault,
  afterInconclusive,
  afterProbe,
  afterSuccess,
  type Breaker,
  breakerState,
  breakerWaitMs,
  closedBreaker,
} from './breaker.ts';
import type { FailureClass } from './failure-class.ts';
import { Load } from './load.ts';

/** Why a key is cooling down: rate-limited, not accepted, or without permission. */
export type CooldownReason = 'limited' | 'refused' | 'forbidden';

/** A period in which a key isn't used. */
export interface Cooldown {
  readonly why: CooldownReason;
  /** In milliseconds of the service's clock. */
  readonly untilMs: number;
}

/** Keys whose fingerprint is kept. */
const maxPrints = 1_000;
const prints = new LRUCache<string, string>({ max: maxPrints });

/** Identifies a key to other processes: the key itself is never shared. */
export const keyFingerprint = (key: string): string => {
  const known = prints.get(key);
  if (known !== undefined) return known;
  const made = createHash('sha256').update(key).digest('base64url').slice(0, 16);
  prints.set(key, made);
  return made;
};

/** A bound, since other processes may know of other keys. */
const maxCooldowns = 1_000;

/** The cooldowns of keys, by their fingerprints. Costs nothing while there are none. */
export class Cooldowns {
  readonly #byPrint = new Map<string, Cooldown>();

  of(key: string, nowMs: number): Cooldown | undefined {
    if (this.#byPrint.size === 0) return undefined;
    const print = keyFingerprint(key);
    const cooldown = this.#byPrint.get(print);
    if (cooldown === undefined || cooldown.untilMs > nowMs) return cooldown;
    this.#byPrint.delete(print);
    return undefined;
  }

  set(print: string, cooldown: Cooldown): void {
    const [oldest] = this.#byPrint.keys();
    if (this.#byPrint.size >= maxCooldowns && oldest !== undefined) this.#byPrint.delete(oldest);
    this.#byPrint.set(print, cooldown);
  }
}

/** A failed attempt. */
interface FailedAttemptFacts {
  readonly failureClass: FailureClass;
  /** The key of the attempt. */
  readonly key: string;
  /** The attempt was the half-open breaker's probe. */
  readonly probe: boolean;
  /** The request already counts as a fault of this model. */
  readonly counted: boolean;
  /** The upstream itself reported the failure, with a status. */
  readonly isAnswered: boolean;
  /** How long the upstream asks to wait, in milliseconds. */
  readonly requestedWaitMs: number | undefined;
}

/** The configured policies for breakers and key cooldowns. */
interface HealthPolicy {
  readonly breaker: BreakerPolicy;
  readonly keys: KeyPolicy;
}

/** The cooldowns of a provider's keys that hold for all its models. */
interface KeyCooldowns {
  readonly cooldownOf: (key: string, nowMs: number) => Cooldown | undefined;
  readonly keyRejected: (key: string, cooldown: Cooldown, nowMs: number) => void;
}

/** Publishes changes of a model's health to other processes of the service. */
export interface ModelHealthPublisher {
  /** The breaker opened for this many milliseconds. */
  readonly opened: (forMs: number, isAnswered: boolean) => void;
  /** The probe succeeded. */
  readonly closed: () => void;
  /**
   * Claims the probe for at most so many milliseconds. Resolves with its release; `undefined` while another process has it.
   * Returns `undefined` if there is no process to ask.
   */
  readonly claimProbe: (forMs: number) => Promise<(() => void) | undefined> | undefined;
  readonly cooling: (print: string, why: Cooldown['why'], forMs: number) => void;
}

/** Machines recorded that get no answer from one model; two are enough. */
const maxMachines = 8;

/** How long to wait for the outcome of another process's probe, in milliseconds. */
const probedElsewhereMs = 1_000;

/** The longest cooldown that an upstream can ask for, in milliseconds. */
const maxCooldownMs = 3_600_000;

/** The observed health of one model of a provider. */
export class ModelHealth {
  readonly #keys: KeyCooldowns;
  /** Cooldowns of keys for this model: rate limits and missing permissions. */
  readonly #cooldowns = new Cooldowns();
  readonly #publisher: ModelHealthPublisher | undefined;
  #breaker: Breaker = closedBreaker;
  #load: Load | undefined;
  /** Machines that get no answer, and until when that holds. */
  #silentFor: ReadonlyMap<string, number> | undefined;
  /** Lets other processes probe. */
  #releaseProbe: (() => void) | undefined;

  /** `publisher`: absent without other processes. */
  constructor(keys: KeyCooldowns, publisher?: ModelHealthPublisher) {
    this.#keys = keys;
    this.#publisher = publisher;
  }

  get breaker(): Breaker {
    return this.#breaker;
  }

  /** What pools need to know. */
  get load(): Load {
    this.#load ??= new Load();
    return this.#load;
  }

  /**
   * Claims the probe of a half-open breaker, which one of all processes sends at a time. Resolves with whether this request may send
   * it; `undefined`: there is nothing to claim, or no process to ask.
   */
  claimProbe(nowMs: number, policy: BreakerPolicy): Promise<boolean> | undefined {
    if (!this.#publisher || breakerState(this.#breaker, nowMs, policy) !== 'half-open') return undefined;
    return this.#publisher.claimProbe(policy.openMs)?.then((release) => {
      if (release) this.#releaseProbe = release;
      return release !== undefined;
    });
  }

  /**
   * Admits a request (`waitMs` 0), or returns the milliseconds until the breaker lets one through. `mayProbe`: another process doesn't
   * probe.
   */
  admit(nowMs: number, policy: BreakerPolicy, mayProbe = true): { readonly probe: boolean; readonly waitMs: number } {
    if (this.#breaker === closedBreaker) return admitted;
    const state = breakerState(this.#breaker, nowMs, policy);
    if (state === 'open') return { probe: false, waitMs: breakerWaitMs(this.#breaker, nowMs, policy) };
    if (state === 'closed') return admitted;
    if (!mayProbe) return { probe: false, waitMs: probedElsewhereMs };
    this.#breaker = afterProbe(this.#breaker, nowMs);
    return { probe: true, waitMs: 0 };
  }

  /** Gives up a claimed probe that isn't under way. */
  releaseUnusedProbe(): void {
    if (this.#breaker.probedAtMs === 0) this.#endProbe();
  }

  /** The current cooldown of a key for this model, if any. */
  cooldownOf(key: string, nowMs: number): Cooldown | undefined {
    return this.#cooldowns.of(key, nowMs) ?? this.#keys.cooldownOf(key, nowMs);
  }

  /** Called when an attempt succeeds. */
  served(probe: boolean): void {
    const before = this.#breaker;
    if (before !== closedBreaker) this.#breaker = afterSuccess(before, probe);
    if (this.#breaker === closedBreaker) this.#silentFor = undefined;
    if (before.openUntilMs !== 0 && this.#breaker === closedBreaker) this.#publisher?.closed();
    if (probe) this.#endProbe();
  }

  /** Another process has opened the breaker. */
  openedElsewhere(untilMs: number): void {
    if (untilMs > this.#breaker.openUntilMs) this.#breaker = { ...this.#breaker, openUntilMs: untilMs, probedAtMs: 0 };
  }

  /** Another machine gets no answer. If a second one reports the same, or this one's next attempt fails, the breaker opens. */
  suspectedElsewhere(machine: string, untilMs: number, nowMs: number): void {
    const live = [...(this.#silentFor ?? [])].filter(([other, ms]) => other !== machine && ms > nowMs);
    this.#silentFor = new Map([...live.slice(-maxMachines), [machine, untilMs]]);
    if (live.length > 0) this.openedElsewhere(untilMs);
  }

  /** Another process's probe has succeeded. */
  closedElsewhere(): void {
    this.#silentFor = undefined;
    if (this.#breaker.openUntilMs !== 0) this.#breaker = closedBreaker;
  }

  /** Another process has put a key on cooldown for this model. */
  coolingElsewhere(print: string, cooldown: Cooldown): void {
    this.#cooldowns.set(print, cooldown);
  }

  /** Called when an attempt ends without evidence, as when its client disconnects. */
  left(probe: boolean): void {
    this.#breaker = afterInconclusive(this.#breaker, probe);
    if (probe) this.#endProbe();
  }

  /**
   * Records a failed attempt. Returns whether it counts as a fault of the upstream, which faults of the client or the gateway
   * don't. A request counts once, however many retries it makes.
   */
  failed(attempt: FailedAttemptFacts, nowMs: number, policy: HealthPolicy): boolean {
    const isFault = this.#learn(attempt, nowMs, policy);
    if (attempt.probe) this.#endProbe();
    return isFault;
  }

  #learn(
    { failureClass, key, probe, counted, isAnswered, requestedWaitMs }: FailedAttemptFacts,
    nowMs: number,
    { breaker, keys }: HealthPolicy,
  ): boolean {
    if (failureClass === 'transient' || failureClass === 'persistent') {
      if (probe || !counted) this.#afterFault(probe, isAnswered, nowMs, breaker);
      return true;
    }
    this.#breaker = afterInconclusive(this.#breaker, probe);
    if (failureClass === 'rateLimited') {
      const cooldownMs = Math.min(requestedWaitMs ?? keys.limitedMs, maxCooldownMs);
      this.#rest(key, 'limited', nowMs, cooldownMs);
    } else if (failureClass === 'forbidden') {
      this.#rest(key, 'forbidden', nowMs, keys.refusedMs);
    } else if (failureClass === 'keyRejected') {
      this.#keys.keyRejected(key, { why: 'refused', untilMs: nowMs + keys.refusedMs }, nowMs);
    }
    return false;
  }

  /** What other processes must know of its outcome is published before. */
  #endProbe(): void {
    this.#releaseProbe?.();
    this.#releaseProbe = undefined;
  }

  #afterFault(probe: boolean, isAnswered: boolean, nowMs: number, policy: BreakerPolicy): void {
    const before = this.#breaker;
    const isSuspected = [...(this.#silentFor?.values() ?? [])].some((untilMs) => untilMs > nowMs);
    this.#breaker = afterFault(before, probe, nowMs, isSuspected ? { ...policy, faults: 1 } : policy);
    const { openUntilMs } = this.#breaker;
    if (openUntilMs !== before.openUntilMs) this.#publisher?.opened(openUntilMs - nowMs, isAnswered);
  }

  #rest(key: string, why: Cooldown['why'], nowMs: number, forMs: number): void {
    const print = keyFingerprint(key);
    this.#cooldowns.set(print, { why, untilMs: nowMs + forMs });
    this.#publisher?.cooling(print, why, forMs);
  }
}

const admitted = { probe: false, waitMs: 0 };
