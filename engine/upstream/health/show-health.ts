import type { Config, Provider } from '../../config/config.ts';
import { showReferencesIn } from '../../config/env.ts';
import type { PoolStats } from '../pool.ts';
import type { Upstreams } from '../upstreams.ts';
import { type BreakerState, breakerState, breakerWaitMs } from './breaker.ts';
import type { CooldownReason } from './cooldowns.ts';
import type { ProviderHealth, UpstreamHealth } from './health.ts';

/** The state of a configured provider. Keys are shown as numbers from 1 on, never as values. */
export interface UpstreamState {
  readonly provider: string;
  /** Live requests; `retrying`: those of them on a retry. */
  readonly live: number;
  readonly retrying: number;
  /** Of its origin, which providers may share. */
  readonly connections: PoolStats;
  readonly keys: readonly KeyState[];
  readonly models: readonly ModelState[];
}

/** The state of a key, for all models. */
interface KeyState {
  readonly number: number;
  readonly rest: CooldownState | undefined;
}

/** The state of a model. */
interface ModelState {
  readonly model: string;
  /** In the provider's configured list; otherwise only clients named it. */
  readonly listed: boolean;
  readonly breaker: BreakerState;
  /** Faults in a row. */
  readonly faults: number;
  /** Milliseconds until a request may pass; 0 if one may now. */
  readonly waitMs: number;
  /** Keys that are cooling down for this model. */
  readonly resting: readonly (CooldownState & { readonly number: number })[];
}

/** A cooldown's reason and remaining milliseconds. */
export interface CooldownState {
  readonly why: CooldownReason;
  readonly forMs: number;
}

interface Known {
  readonly config: Pick<Config, 'providers' | 'breaker' | 'referred'>;
  readonly health: UpstreamHealth;
  readonly upstreams: Pick<Upstreams, 'poolStats'>;
}

/** The current state of all configured providers and models. Unlisted models appear only while they have problems. */
export const upstreamStates = (known: Known): readonly UpstreamState[] =>
  showReferencesIn(
    known.config.referred,
    known.config.providers.map((provider) => stateOf(provider, known)),
  );

const stateOf = (provider: Provider, { config, health, upstreams }: Known) => {
  const known = health.of(provider);
  const nowMs = health.nowMs();
  return {
    provider: provider.name,
    ...known.traffic,
    connections: upstreams.poolStats(provider.baseUrl),
    keys: provider.apiKeys.map((key, index): KeyState => {
      const cooldown = known.cooldownOf(key, nowMs);
      return { number: index + 1, rest: cooldown && { why: cooldown.why, forMs: cooldown.untilMs - nowMs } };
    }),
    models: modelStates(provider, config, known, nowMs),
  };
};

const modelStates = (
  provider: Provider,
  { breaker: policy }: Pick<Config, 'breaker'>,
  known: ProviderHealth,
  nowMs: number,
): readonly ModelState[] => {
  const asked = new Map(known.models);
  const listed = new Set(provider.models);
  return [...listed, ...[...asked.keys()].filter((name) => !listed.has(name))].flatMap((model): ModelState[] => {
    const health = asked.get(model);
    if (!health) return [{ model, listed: true, breaker: 'closed', faults: 0, waitMs: 0, resting: [] }];
    const { breaker } = health;
    const resting = provider.apiKeys.flatMap((key, index) => {
      const cooldown = health.cooldownOf(key, nowMs);
      return cooldown ? [{ number: index + 1, why: cooldown.why, forMs: cooldown.untilMs - nowMs }] : [];
    });
    if (!listed.has(model) && breaker.faults === 0 && resting.length === 0) return [];
    const state = breakerState(breaker, nowMs, policy);
    return [
      {
        model,
        listed: listed.has(model),
        breaker: state,
        faults: breaker.faults,
        waitMs: breakerWaitMs(breaker, nowMs, policy),
        resting,
      },
    ];
  });
};
