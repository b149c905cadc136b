import { type Config, fallbackRules, type Pool } from '../config/config.ts';
import { ruleRoute } from '../config/sections/clients.ts';
import { type Destination, findDestination } from '../config/sections/destination.ts';
import type { Resolution } from './resolve.ts';

/**
 * What follows if the chosen destination fails, in order: the other members of its pool, then the fallbacks of the rule that
 * chose it; of a rule or a module of the user's own, the rest of its destinations. An explicit or tagged destination has no fallbacks; one
 * chosen by a router module that names no other, or because only one provider lists the model, has the default's. A pool stands for its `members`.
 * Omits entries that match no model and repeated ones.
 */
export const fallbacksOf = (
  {
    provider,
    model,
    scenario,
    pool,
    others: named,
  }: Pick<Resolution, 'provider' | 'model' | 'scenario' | 'pool' | 'others'>,
  config: Pick<Config, 'router' | 'providers' | 'pools'>,
  members: (pool: Pool) => readonly Destination[],
): readonly Destination[] => {
  const known = new Set([`${provider.name},${model}`]);
  const unknown = (destination: Destination): readonly Destination[] => {
    const name = `${destination.provider.name},${destination.model}`;
    // A client's own credentials are meant for the first provider alone.
    const isForAnother = destination.provider.credentials === 'client' && destination.provider !== provider;
    if (isForAnother || known.has(name)) return [];
    known.add(name);
    return [destination];
  };
  const others = pool ? members(pool).flatMap(unknown) : [];
  const fallbacks = (named ?? textsOf(scenario, config.router)).flatMap((text) => {
    const found = findDestination(config, text);
    if (!found) return [];
    return (found.pool ? members(found.pool) : [found]).flatMap(unknown);
  });
  return [...others, ...fallbacks];
};

const textsOf = (scenario: Resolution['scenario'], { fallback, rules = [] }: Config['router']): readonly string[] => {
  const own = rules.find(({ name }) => ruleRoute + name === scenario);
  if (own) return own.to.slice(1);
  const rule = fallbackRules.find(
    (name) => name === (scenario === 'model' || scenario === 'module' ? 'default' : scenario),
  );
  return rule === undefined ? [] : (fallback[rule] ?? []);
};
