import { LRUCache } from 'lru-cache';
import type { Provider } from '../../config/config.ts';
import type { BreakerPolicy, KeyPolicy, RetryPolicy } from '../../config/schema.ts';
import type { ModelRequest } from '../../model/request.ts';
import { Addresses } from './addresses.ts';
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
import { chooseKey, conversationHash, hasHistory, type KeyChoice } from './choose-key.ts';
import { type Cooldown, Cooldowns, keyFingerprint } from './cooldowns.ts';
import type { FailureClass } from './failure-class.ts';
import { Load } from './load.ts';
import {
  type HealthEntries,
  type ModelHealthPublisher,
  type ProviderHealthPublisher,
  shareHealth,
} from './share-health.ts';

/** Requests at one provider, from the first attempt to the end of the answer. */
interface Traffic {
  live: number;
  /** The calls among them that are a retry or wait for one. */
  retrying: number;
}

/**
 * Whether the retry budget allows one more request to retry. The budget is a share of the live requests, so that retries don't
 * multiply the load on a failing provider, but at least `floor`, so that a quiet service can retry.
 */
export const isWithinBudget = ({ live, retrying }: Traffic, { budget, floor }: RetryPolicy): boolean =>
  retrying < Math.max(floor, Math.floor(live * budget));

/** The observed health of all upstreams. Kept when the configuration changes. */
export interface UpstreamHealth {
  /** The health of a provider, identified by its name and base URL. */
  readonly of: (provider: Provider) => ProviderHealth;
  /** A monotonic clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** A random number in [0, 1). */
  readonly random: () => number;
}

/** The sources of time and randomness. */
type HealthSource = Pick<UpstreamHealth, 'nowMs' | 'random'>;

/** A bound, since configurations and presets may change without end. */
const maxProviders = 1_000;

/**
 * Creates a record of upstream health without observations. `shared`: what it shares with other processes; absent: there are none.
 * `node`: names this node if other nodes share that.
 */
export const createUpstreamHealth = (
  { nowMs, random }: HealthSource,
  shared?: HealthEntries,
  node?: string,
): UpstreamHealth => {
  const known = new LRUCache<string, ProviderHealth>({ max: maxProviders });
  // A provider is the same object for as long as its configuration is active.
  const byProvider = new WeakMap<Provider, ProviderHealth>();
  const named = (name: string): ProviderHealth => {
    const health = known.get(name) ?? new ProviderHealth(newsOf?.(name));
    known.set(name, health);
    return health;
  };
  const newsOf = shared && shareHealth(shared, named, nowMs, node);
  return {
    nowMs,
    random,
    of(provider) {
      const found = byProvider.get(provider);
      if (found) return found;
      const health = named(`${provider.name} ${provider.baseUrl.href}`);
      byProvider.set(provider, health);
      return health;
    },
  };
};

/** A bound, since clients choose the model names. */
const maxModels = 500;

/** Conversations whose key is remembered; the least recently used is evicted. */
const maxConversations = 10_000;

/** The observed health of one provider. */
export class ProviderHealth {
  readonly traffic: Traffic = { live: 0, retrying: 0 };
  /** Of the provider's base URLs, where it has several. */
  readonly addresses = new Addresses();
  readonly #models = new LRUCache<string, ModelHealth>({ max: maxModels });
  /** Cooldowns that hold for all models: of keys that the provider rejects. */
  #cooldowns: Cooldowns | undefined;
  readonly #publisher: ProviderHealthPublisher | undefined;
  // Unlike `max`, `maxSize` allocates nothing in advance.
  readonly #conversations = new LRUCache<number, string>({
    maxSize: maxConversations,
    sizeCalculation: () => 1,
  });
  #nextKey = 0;

  /** `publisher`: absent without other processes. */
  constructor(publisher?: ProviderHealthPublisher) {
    this.#publisher = publisher;
  }

  model(name: string): ModelHealth {
    const known = this.#models.get(name);
    if (known) return known;
    const made = new ModelHealth(this, this.#publisher?.ofModel(name));
    this.#models.set(name, made);
    return made;
  }

  /** The models requested so far. */
  get models(): Iterable<readonly [name: string, health: ModelHealth]> {
    return this.#models.entries();
  }

  cooldownOf(key: string, nowMs: number): Cooldown | undefined {
    return this.#cooldowns?.of(key, nowMs);
  }

  keyRejected(key: string, cooldown: Cooldown, nowMs: number): void {
    const print = keyFingerprint(key);
    this.coolingByOthers(print, cooldown);
    this.#publisher?.cooling(print, cooldown.why, cooldown.untilMs - nowMs);
  }

  /** Another process has put a key on cooldown for all models. */
  coolingByOthers(print: string, cooldown: Cooldown): void {
    this.#cooldowns ??= new Cooldowns();
    this.#cooldowns.set(print, cooldown);
  }

  /**
   * Chooses the key for a request: the one that served the conversation before, since the vendor's prompt cache belongs to the
   * key's account, else the next in turn.
   */
  chooseKey(keys: readonly string[], request: ModelRequest, model: ModelHealth, nowMs: number): KeyChoice {
    const [only = ''] = keys;
    if (keys.length === 1) return { key: only, cooldown: model.cooldownOf(only, nowMs) };
    const preferred = hasHistory(request) ? this.#conversations.get(conversationHash(request)) : undefined;
    const choice = chooseKey(keys, (key) => model.cooldownOf(key, nowMs), this.#nextKey, preferred);
    if (choice.key !== preferred) this.#nextKey = (keys.indexOf(choice.key) + 1) % keys.length;
    return choice;
  }

  /** Remembers which key served a conversation. Called only if the provider has several keys. */
  remember(request: ModelRequest, key: string): void {
    this.#conversations.set(conversationHash(request), key);
  }
}

/** A failed attempt. */
interface FailedAttempt {
  readonly failureClass: FailureClass;
  /** The key of the attempt. */
  readonly key: string;
  /** The attempt was the half-open breaker's probe. */
  readonly probe: boolean;
  /** The request already counts as a fault of this model. */
  readonly counted: boolean;
  /** The upstream itself reported the failure, with a status. */
  readonly isAnswered: boolean;
  /** The wait that the upstream asks for, in milliseconds. */
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

/** Machines recorded that get no answer from one model; two are enough. */
const maxNodes = 8;

/** Wait for the outcome of another process's probe, in milliseconds. */
const probedByOthersMs = 1_000;

/** The longest cooldown that an upstream can ask for, in milliseconds. */
const maxCooldownMs = 3_600_000;

/** The observed health of one model of a provider. */
export class ModelHealth {
  readonly #keys: KeyCooldowns;
  /** Cooldowns of keys for this model: rate limits and missing permissions. */
  #cooldowns: Cooldowns | undefined;
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

  /** Figures for pools. */
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
    if (!mayProbe) return { probe: false, waitMs: probedByOthersMs };
    this.#breaker = afterProbe(this.#breaker, nowMs);
    return { probe: true, waitMs: 0 };
  }

  /** Gives up a claimed probe that isn't under way. */
  releaseUnusedProbe(): void {
    if (this.#breaker.probedAtMs === 0) this.#endProbe();
  }

  /** The current cooldown of a key for this model, if any. */
  cooldownOf(key: string, nowMs: number): Cooldown | undefined {
    return this.#cooldowns?.of(key, nowMs) ?? this.#keys.cooldownOf(key, nowMs);
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
  openedByOthers(untilMs: number): void {
    if (untilMs > this.#breaker.openUntilMs) this.#breaker = { ...this.#breaker, openUntilMs: untilMs, probedAtMs: 0 };
  }

  /** Another node gets no answer. If a second one reports the same, or this one's next attempt fails, the breaker opens. */
  suspectedByOthers(node: string, untilMs: number, nowMs: number): void {
    const live = [...(this.#silentFor ?? [])].filter(([other, ms]) => other !== node && ms > nowMs);
    this.#silentFor = new Map([...live.slice(-maxNodes), [node, untilMs]]);
    if (live.length > 0) this.openedByOthers(untilMs);
  }

  /** Another process's probe has succeeded. */
  closedByOthers(): void {
    this.#silentFor = undefined;
    if (this.#breaker.openUntilMs !== 0) this.#breaker = closedBreaker;
  }

  /** Another process has put a key on cooldown for this model. */
  coolingByOthers(print: string, cooldown: Cooldown): void {
    this.#cooldowns ??= new Cooldowns();
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
  failed(attempt: FailedAttempt, nowMs: number, policy: HealthPolicy): boolean {
    const isFault = this.#learn(attempt, nowMs, policy);
    if (attempt.probe) this.#endProbe();
    return isFault;
  }

  #learn(
    { failureClass, key, probe, counted, isAnswered, requestedWaitMs }: FailedAttempt,
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

  /** The outcome is published to other processes first. */
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
    this.coolingByOthers(print, { why, untilMs: nowMs + forMs });
    this.#publisher?.cooling(print, why, forMs);
  }
}

const admitted = { probe: false, waitMs: 0 };
