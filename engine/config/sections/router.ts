import { isDeepStrictEqual } from 'node:util';
import { memberPath } from '../../model/schema.ts';
import { type FallbackRule, fallbackRules, type Pool, type RouterConfig, type Scenario, scenarios } from '../config.ts';
import { closeNames, type Diagnostics } from '../diagnostics.ts';
import type { UnsetReference } from '../env.ts';
import type { FallbackFile, RouterFile } from '../schema.ts';
import { findDestination, findPool, findProvider, parseDestination, providersOf } from './destination.ts';
import type { ProviderList } from './providers.ts';
import type { RuleFile } from './rule-schema.ts';
import { readRules } from './rules.ts';
import type { SourceItem } from './transformers.ts';

/** What destinations may name. */
export interface DestinationList extends ProviderList {
  readonly pools: readonly Pool[];
}

/** Reads `Router`, and `fallback` in the older spelling. A blank destination counts as absent. */
export const readRouter = (
  source: RouterFile,
  rules: readonly SourceItem<RuleFile>[],
  olderFallback: FallbackFile,
  list: DestinationList,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): RouterConfig => {
  const unsetAt = new Set(unset.map(({ path }) => path));
  const destination = (path: string, text: string | undefined): string | undefined => {
    if (unsetAt.has(path) || text === undefined || text.trim() === '') return undefined;
    checkDestination(path, text, list, findings);
    return text.trim();
  };
  const route = (scenario: Scenario): string | undefined => {
    const listed = destination(`Router.routes.${scenario}`, source.routes?.[scenario]);
    const direct = destination(`Router.${scenario}`, source[scenario]);
    if (listed !== undefined && direct !== undefined && listed !== direct) {
      findings.warn(`Router.${scenario}`, `has no effect: Router.routes.${scenario} is set too`);
    }
    return listed ?? direct;
  };
  const destinations = (at: string, texts: readonly string[] | undefined): readonly string[] | undefined =>
    texts?.flatMap((text, index) => destination(memberPath(at, index), text) ?? []);
  const fallbacks = (rule: FallbackRule): readonly string[] => {
    const listed = destinations(`Router.fallback.${rule}`, source.fallback?.[rule]);
    const older = destinations(`fallback.${rule}`, olderFallback[rule]);
    if (listed && older && !isDeepStrictEqual(listed, older)) {
      findings.warn(`fallback.${rule}`, `has no effect: Router.fallback.${rule} is set too`);
    }
    return listed ?? older ?? [];
  };
  const fallback: Partial<Record<FallbackRule, readonly string[]>> = {};
  for (const rule of fallbackRules) {
    const texts = fallbacks(rule);
    if (texts.length > 0) fallback[rule] = texts;
  }
  const routes: Partial<Record<Scenario, string>> = {};
  for (const scenario of scenarios) {
    const text = route(scenario);
    if (text !== undefined) routes[scenario] = text;
  }
  const module = readModule(source.module);
  const own = readRules(rules, destination, findings);
  return {
    default: destination('Router.default', source.default),
    ...(source.longContextThreshold !== undefined && { longContextThreshold: source.longContextThreshold }),
    ...(source.compactPrompt !== undefined &&
      source.compactPrompt.trim() !== '' && { compactPrompt: source.compactPrompt }),
    routes,
    fallback,
    ...(own.length > 0 && { rules: own }),
    ...(module !== undefined && { module }),
  };
};

/** Reads `Router.module`. A blank path counts as absent. */
const readModule = (source: RouterFile['module']): RouterConfig['module'] => {
  if (source === undefined) return undefined;
  const { path, form = 'question' } = typeof source === 'string' ? { path: source } : source;
  return path.trim() === '' ? undefined : { path: path.trim(), form };
};

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
