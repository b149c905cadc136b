import type { ConfigFile } from '../api/config/config-file.ts';
import type { JsonObject } from '../api/json.ts';
import { askedBy, ownRulesOf, textsToValue, valueToTexts, withAsked } from './conditions.ts';
import { withMember } from './fields/field-path.ts';
import { fallbacksOf, routeOf, rules, withFallbacks, withRoute } from './rules.ts';

/** The uses of a provider, in words; empty: none. */
export const usesOf = (config: ConfigFile, provider: string): readonly string[] => {
  const isOf = belongsTo(provider);
  return [
    ...rules.filter((rule) => isOf(routeOf(config, rule))).map(({ title }) => `the route ${title}`),
    ...rules.filter((rule) => fallbacksOf(config, rule).some(isOf)).map(({ title }) => `fallbacks of ${title}`),
    ...ownRulesOf(config).flatMap(({ name, to, when = {} }) =>
      [...valueToTexts(to), ...askedBy(when)].some(isOf) ? [`the rule ${String(name)}`] : [],
    ),
    ...(config.Pools ?? []).flatMap(({ name = '', members = [] }) =>
      members.some(({ to = '' }) => isOf(to)) ? [`the pool ${name}`] : [],
    ),
    ...(config.transformers?.some((entry) => typeof entry !== 'string' && entry.provider === provider)
      ? ['its transformers, which are removed']
      : []),
  ];
};

/** Removes a provider and its transformers. What leads to it leads to `to` then; pools lose it if they have other members. */
export const removeProvider = (config: ConfigFile, at: number, to: string): ConfigFile => {
  const { Providers = [] } = config;
  const name = Providers[at]?.name ?? '';
  let next: ConfigFile = { ...config, Providers: Providers.toSpliced(at, 1) };
  if (name === '' || next.Providers?.some((other) => other.name === name)) return next;
  const isOf = belongsTo(name);
  const moved = (list: readonly string[]): readonly string[] =>
    [...new Set(list.map((one) => (isOf(one) ? to : one)))].filter((one) => one !== '');
  for (const rule of rules) {
    if (isOf(routeOf(next, rule))) next = withRoute(next, rule, to);
    const route = routeOf(next, rule);
    const fallbacks = fallbacksOf(next, rule);
    if (fallbacks.some(isOf))
      next = withFallbacks(
        next,
        rule,
        moved(fallbacks).filter((one) => one !== route),
      );
  }
  const own = ownRulesOf(next);
  if (own.some(({ to: texts, when = {} }) => [...valueToTexts(texts), ...askedBy(when)].some(isOf)))
    next = withOwnRules(
      next,
      own.map(({ when = {}, ...rule }) => ({
        ...rule,
        when: withAsked(when, (asked) => (isOf(asked) ? to : asked)),
        to: textsToValue(moved(valueToTexts(rule.to))),
      })),
    );
  const { Pools, transformers } = next;
  return {
    ...next,
    ...(Pools && {
      Pools: Pools.map((pool) => {
        const others = (pool.members ?? []).filter((member) => !isOf(member.to ?? ''));
        return others.length === (pool.members ?? []).length
          ? pool
          : { ...pool, members: others.length > 0 ? others : [{ to }] };
      }),
    }),
    ...(transformers && {
      transformers: transformers.filter((entry) => typeof entry === 'string' || entry.provider !== name),
    }),
  };
};

const belongsTo =
  (provider: string) =>
  (destination: string): boolean =>
    destination.startsWith(`${provider},`);

/** Sets the rules of the user's own; an empty list is removed. */
const withOwnRules = (config: ConfigFile, rules: readonly JsonObject[]): ConfigFile => ({
  ...config,
  Router: withMember(config.Router ?? {}, 'rules', rules.length === 0 ? undefined : rules),
});
