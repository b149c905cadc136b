import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import type { Provider } from '../../config/config.ts';
import type { RetryPolicy } from '../../config/schema.ts';
import type { ModelRequest } from '../../model/request.ts';
import { Addresses } from './addresses.ts';
import { chooseKey, conversationHash, hasHistory, type KeyChoice } from './choose-key.ts';
import { type Cooldown, Cooldowns, keyFingerprint, ModelHealth } from './model-health.ts';
import { type HealthFacts, type ProviderHealthPublisher, shareHealth } from './share-health.ts';

/** Requests at one provider, from the first attempt to the end of the answer. */
interface Traffic {
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

/** Creates a record of upstream health without observations. `shared`: connections to other processes; absent: there are none. */
export const createUpstreamHealth = (
  { nowMs, random }: HealthSource,
  shared: readonly HealthFacts[] = [],
): UpstreamHealth => {
  const known = new LRUCache<string, ProviderHealth>({ max: maxProviders });
  // A provider is the same object for as long as its configuration is active.
  const byProvider = new WeakMap<Provider, ProviderHealth>();
  const named = (name: string): ProviderHealth => {
    const health = known.get(name) ?? new ProviderHealth(newsOf?.(name));
    known.set(name, health);
    return health;
  };
  const newsOf = shared.length > 0 ? shareHealth(shared, named, nowMs) : undefined;
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
  readonly #cooldowns = new Cooldowns();
  readonly #publisher: ProviderHealthPublisher | undefined;
  // Unlike `max`, `maxSize` allocates nothing in advance.
  readonly #conversations = new LRUCache<number, string>({
    maxSize: maxConversations,
    sizeCalculation: () => 1,
  });
  #turn = 0;

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
    return this.#cooldowns.of(key, nowMs);
  }

  keyRejected(key: string, cooldown: Cooldown, nowMs: number): void {
    const print = keyFingerprint(key);
    this.#cooldowns.set(print, cooldown);
    this.#publisher?.cooling(print, cooldown.why, cooldown.untilMs - nowMs);
  }

  /** Another process has put a key on cooldown for all models. */
  coolingElsewhere(print: string, cooldown: Cooldown): void {
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
    const choice = chooseKey(keys, (key) => model.cooldownOf(key, nowMs), this.#turn, preferred);
    if (choice.key !== preferred) this.#turn = (keys.indexOf(choice.key) + 1) % keys.length;
    return choice;
  }

  /** Remembers which key served a conversation. Called only if the provider has several keys. */
  remember(request: ModelRequest, key: string): void {
    this.#conversations.set(conversationHash(request), key);
  }
}

/** Milliseconds since 1970 by a monotonic clock, so that durations are unaffected by clock changes. */
export const steadyNowMs = (): number => performance.timeOrigin + performance.now();
