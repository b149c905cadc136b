import { LRUCache } from 'lru-cache';
import type { Provider } from '../config/config.ts';
import { ProviderHealth } from './provider-health.ts';

/** What the service has learnt of its upstreams. It outlives changes of the configuration. */
export interface UpstreamHealth {
  /** What is known of the provider of this name at this address. */
  readonly of: (provider: Provider) => ProviderHealth;
  /** A clock that never goes back, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
}

/** Where time and chance come from. */
export type HealthSource = Pick<UpstreamHealth, 'nowMs' | 'random'>;

/** Configurations and presets come and go. */
const mostProviders = 1_000;

/** Nothing known yet. */
export const createUpstreamHealth = ({ nowMs, random }: HealthSource): UpstreamHealth => {
  const known = new LRUCache<string, ProviderHealth>({ max: mostProviders });
  // A provider is one object for as long as its configuration is in use.
  const quick = new WeakMap<Provider, ProviderHealth>();
  return {
    nowMs,
    random,
    of(provider) {
      const found = quick.get(provider);
      if (found) return found;
      const name = `${provider.name} ${provider.baseUrl.href}`;
      const health = known.get(name) ?? new ProviderHealth();
      known.set(name, health);
      quick.set(provider, health);
      return health;
    },
  };
};
