import { type Config, fallbackRules } from '../config/config.ts';
import { type Destination, findDestination } from './destination.ts';
import type { Resolution } from './resolve.ts';

/**
 * Where a request goes instead when its destination can't serve it, in order: the list of the rule that chose the destination. A
 * destination that the client named itself has none; one that only its provider lists counts as the default. Entries that lead
 * nowhere, or where the request has been, are left out.
 */
export const fallbacksOf = (
  { provider, model, scenario }: Pick<Resolution, 'provider' | 'model' | 'scenario'>,
  { router, providers }: Pick<Config, 'router' | 'providers'>,
): readonly Destination[] => {
  const rule = fallbackRules.find((name) => name === (scenario === 'model' ? 'default' : scenario));
  const seen = new Set([`${provider.name},${model}`]);
  return (rule === undefined ? [] : (router.fallback[rule] ?? [])).flatMap((text) => {
    const found = findDestination(providers, text);
    const name = found && `${found.provider.name},${found.model}`;
    if (!found || name === undefined || seen.has(name)) return [];
    seen.add(name);
    return [found];
  });
};
