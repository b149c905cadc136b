import type { Pool } from '../config.ts';
import { closeNames, type Diagnostics } from '../diagnostics.ts';
import { findDestination, findPool, findProvider, parseDestination, providersOf } from './destination.ts';
import type { ProviderList } from './providers.ts';

/** What destinations may name. */
export interface DestinationList extends ProviderList {
  readonly pools: readonly Pool[];
}

/** Reports what is wrong with a destination. */
export const checkDestination = (path: string, text: string, list: DestinationList, findings: Diagnostics): void => {
  const { providers, pools, names, modelNames, complete } = list;
  if (findPool(pools, text)) return;
  const named = parseDestination(text);
  const shown = JSON.stringify(text.trim());
  if (named) {
    const provider = findProvider(providers, named.provider);
    if (named.model === '') findings.fault(path, `has no model: ${shown}`);
    else if (provider && !provider.models.includes(named.model) && provider.unset.length === 0) {
      findings.warn(path, `names a model that ${provider.name} doesn't list: ${shown}`);
    } else if (!provider && !names.some((name) => name.toLowerCase() === named.provider.toLowerCase())) {
      findings.fault(path, `names the unknown provider ${JSON.stringify(named.provider)}${known(names)}`);
    }
    return;
  }
  const found = findDestination(list, text);
  if (!found && complete && !modelNames.has(text.trim())) {
    const hint = hintFor(text.trim(), list);
    const pool = pools.length > 0 ? ', a pool' : '';
    findings.fault(path, `must be \`provider,model\`${pool} or a model that a provider lists, not ${shown}${hint}`);
  }
  const listing = found ? providersOf(providers, found.model) : [];
  if (found && listing.length > 1) {
    findings.warn(
      path,
      `names a model that ${listing.length} providers list: ${shown}; ${found.provider.name} is used`,
    );
  }
};

/** The destinations that a text without a comma resembles. Where another sign stands for the comma, the one with a comma. */
const hintFor = (text: string, { providers, pools }: DestinationList): string => {
  const destinations = providers.flatMap(({ name, models }) => models.map((model) => `${name},${model}`));
  const written = text.toLowerCase();
  const split = destinations.filter((one) => {
    const at = one.indexOf(',');
    const lower = one.toLowerCase();
    const sign = written.charAt(at);
    return (
      written.length === lower.length && lower === `${written.slice(0, at)},${written.slice(at + 1)}` && /\W/.test(sign)
    );
  });
  if (split.length > 0) return meant(split);
  const models = providers.flatMap(({ models }) => models);
  return meant(closeNames(text, [...destinations, ...models, ...pools.map(({ name }) => name)]));
};

const meant = (names: readonly string[]): string =>
  names.length > 0 ? `; did you mean ${names.map((name) => JSON.stringify(name)).join(' or ')}?` : '';

const known = (names: readonly string[]): string =>
  names.length > 0 ? `; known providers: ${names.map((name) => JSON.stringify(name)).join(', ')}` : '';
