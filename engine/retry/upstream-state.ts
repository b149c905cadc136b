import type { Config, Provider } from '../config/config.ts';
import type { Occupancy } from '../upstream/connections.ts';
import type { Yard } from '../yard/yard.ts';
import { type BreakerState, breakerState, breakerWaitMs } from './breaker.ts';
import type { RestReason } from './key-ring.ts';

/** How a provider of the configuration stands. Keys have numbers, from 1 on, in the place of their values. */
export interface UpstreamState {
  readonly provider: string;
  /** Requests from their first try to the end of their answer; of these, the ones on a further try. */
  readonly live: number;
  readonly retrying: number;
  /** Of its origin, which other providers may share. */
  readonly connections: Occupancy;
  readonly keys: readonly KeyState[];
  readonly models: readonly ModelState[];
}

/** How a key stands, for all models. */
export interface KeyState {
  readonly number: number;
  readonly rest: RestState | undefined;
}

/** How a model stands. */
export interface ModelState {
  readonly model: string;
  /** The configuration lists it; others are named by clients. */
  readonly listed: boolean;
  readonly breaker: BreakerState;
  /** Faults in a row. */
  readonly faults: number;
  /** Milliseconds until a request may try; 0 where one may now. */
  readonly waitMs: number;
  /** Keys that rest for this model. */
  readonly resting: readonly (RestState & { readonly number: number })[];
}

/** Why something is left alone, and for how many milliseconds more. */
export interface RestState {
  readonly why: RestReason;
  readonly forMs: number;
}

/** How each provider and each model that the configuration lists stands now; other models only while something is wrong. */
export const upstreamStates = (yard: Pick<Yard, 'config' | 'health' | 'upstreams'>): readonly UpstreamState[] =>
  yard.config.providers.map((provider) => stateOf(provider, yard));

const stateOf = (provider: Provider, { config, health, upstreams }: Pick<Yard, 'config' | 'health' | 'upstreams'>) => {
  const known = health.of(provider);
  const nowMs = health.nowMs();
  return {
    provider: provider.name,
    ...known.traffic,
    connections: upstreams.occupancyOf(provider.baseUrl),
    keys: provider.apiKeys.map((key, index): KeyState => {
      const rest = known.restOf(key, nowMs);
      return { number: index + 1, rest: rest && { why: rest.why, forMs: rest.untilMs - nowMs } };
    }),
    models: modelStates(provider, config, known, nowMs),
  };
};

const modelStates = (
  provider: Provider,
  { breaker: policy }: Pick<Config, 'breaker'>,
  known: ReturnType<Yard['health']['of']>,
  nowMs: number,
): readonly ModelState[] => {
  const asked = new Map(known.models);
  const listed = new Set(provider.models);
  return [...listed, ...[...asked.keys()].filter((name) => !listed.has(name))].flatMap((model): ModelState[] => {
    const health = asked.get(model);
    if (!health) return [{ model, listed: true, breaker: 'closed', faults: 0, waitMs: 0, resting: [] }];
    const { breaker } = health;
    const resting = provider.apiKeys.flatMap((key, index) => {
      const rest = health.restOf(key, nowMs);
      return rest ? [{ number: index + 1, why: rest.why, forMs: rest.untilMs - nowMs }] : [];
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
