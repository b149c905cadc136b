import { ruleRoute } from '../config/clients.ts';
import { type Config, fallbackRules } from '../config/config.ts';
import { type Destination, findDestination } from '../config/destination.ts';
import type { Resolution } from './resolve.ts';

/**
 * The fallbacks of a request, in order: the list of the rule that chose its destination; of a rule of the user's own, the rest of its
 * destinations. An explicit or tagged destination has
 * none; one chosen by the router module, or because only one provider
 * lists the model, has the default's. Omits entries that match no model and repeated
 * ones.
 */
export const fallbacksOf = (
  { provider, model, scenario }: Pick<Resolution, 'provider' | 'model' | 'scenario'>,
  { router, providers }: Pick<Config, 'router' | 'providers'>,
): readonly Destination[] => {
  const known = new Set([`${provider.name},${model}`]);
  return textsOf(scenario, router).flatMap((text) => {
    const found = findDestination(providers, text);
    const name = found && `${found.provider.name},${found.model}`;
    if (!found || name === undefined || known.has(name)) return [];
    known.add(name);
    return [found];
  });
};

const textsOf = (scenario: Resolution['scenario'], { fallback, rules = [] }: Config['router']): readonly string[] => {
  const own = rules.find(({ name }) => ruleRoute + name === scenario);
  if (own) return own.to.slice(1);
  const rule = fallbackRules.find(
    (name) => name === (scenario === 'model' || scenario === 'module' ? 'default' : scenario),
  );
  return rule === undefined ? [] : (fallback[rule] ?? []);
};
