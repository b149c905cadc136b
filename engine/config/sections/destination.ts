import { memoize } from '../../runtime/memoize.ts';
import type { Config, Pool, Provider } from '../config.ts';

/** The destination of a request: a provider and its model. */
export interface Destination {
  readonly provider: Provider;
  readonly model: string;
  /** The pool that was named. Until a member is chosen for a request, provider and model are those of the first that serves it. */
  readonly pool?: Pool | undefined;
}

/** A parsed `provider,model`, not looked up yet. */
export interface NamedDestination {
  readonly provider: string;
  readonly model: string;
}

/**
 * Splits `provider,model` at the first comma, since models may contain commas, slashes and colons. Trims both parts.
 * `undefined` for text without a comma: a bare model.
 */
export const parseDestination = (text: string): NamedDestination | undefined => {
  const comma = text.indexOf(',');
  if (comma < 0) return undefined;
  return { provider: text.slice(0, comma).trim(), model: text.slice(comma + 1).trim() };
};

/** The providers of a configuration by what requests name. */
const tablesOf = memoize((providers: readonly Provider[]) => {
  const byName = new Map<string, Provider>();
  const byLowerName = new Map<string, Provider>();
  const byModel = new Map<string, Provider[]>();
  for (const provider of providers) {
    const lower = provider.name.toLowerCase();
    if (!byName.has(provider.name)) byName.set(provider.name, provider);
    if (!byLowerName.has(lower)) byLowerName.set(lower, provider);
    for (const model of modelsOf(provider)) {
      const listing = byModel.get(model);
      if (listing) listing.push(provider);
      else byModel.set(model, [provider]);
    }
  }
  return { byName, byLowerName, byModel };
});

const modelsOf = memoize(({ models }: Pick<Provider, 'models'>): ReadonlySet<string> => new Set(models));

/** Whether a provider lists a model. */
export const listsModel = (provider: Pick<Provider, 'models'>, model: string): boolean => modelsOf(provider).has(model);

/** The provider of this exact name. */
export const providerNamed = (providers: readonly Provider[], name: string): Provider | undefined =>
  tablesOf(providers).byName.get(name);

/** Finds a provider by its exact name, else the first by case-insensitive name. */
export const findProvider = (providers: readonly Provider[], name: string): Provider | undefined =>
  providerNamed(providers, name) ?? tablesOf(providers).byLowerName.get(name.toLowerCase());

/** The providers that list a model. */
export const providersOf = (providers: readonly Provider[], model: string): readonly Provider[] =>
  tablesOf(providers).byModel.get(model) ?? [];

/** What destinations are looked up in. */
export type KnownDestinations = Pick<Config, 'providers' | 'pools'>;

/** Finds a pool by its exact name. */
export const findPool = (pools: readonly Pool[], name: string): Pool | undefined =>
  pools.length === 0 ? undefined : poolsByName(pools).get(name.trim());

const poolsByName = memoize(
  (pools: readonly Pool[]): ReadonlyMap<string, Pool> => new Map(pools.map((pool) => [pool.name, pool])),
);

/** A pool as a destination. `undefined` if none of its members serves the model asked for. */
export const poolDestination = (
  pool: Pool,
  providers: readonly Provider[],
  asked: string | undefined,
): Destination | undefined => {
  const member = pool.members.find(({ serves }) => asked === undefined || serves(asked));
  const provider = member && findProvider(providers, member.provider);
  return provider && { provider, model: member.model, pool };
};

/** All members of a pool. */
export const membersOf = ({ members }: Pool, providers: readonly Provider[]): readonly Destination[] =>
  members.flatMap(({ provider, model }) => {
    const known = findProvider(providers, provider);
    return known ? [{ provider: known, model }] : [];
  });

/**
 * Resolves `provider,model`, a pool's name, or a bare model to the first provider that lists it. `asked`: the model asked for, if
 * the client didn't name the destination itself.
 */
export const findDestination = (
  { providers, pools }: KnownDestinations,
  text: string,
  asked?: string,
): Destination | undefined => {
  const pool = findPool(pools, text);
  if (pool) return poolDestination(pool, providers, asked);
  const named = parseDestination(text);
  const model = named?.model ?? text.trim();
  const provider = named ? findProvider(providers, named.provider) : providersOf(providers, model)[0];
  return provider && model !== '' ? { provider, model } : undefined;
};
