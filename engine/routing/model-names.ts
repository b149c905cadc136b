import { type Config, fallbackRules, scenarios } from '../config/config.ts';
import { referredName } from '../config/env.ts';
import { ruleRoute } from '../config/sections/clients.ts';
import {
  type Destination,
  findDestination,
  findPool,
  findProvider,
  listsModel,
  membersOf,
  parseDestination,
  poolDestination,
  providersOf,
} from '../config/sections/destination.ts';
import { type ClientModel, gatewayOwner as gateway } from '../model/models/model-catalog.ts';
import type { ModelFacts } from '../model/models/model-facts.ts';
import { memoize } from '../runtime/memoize.ts';
import { commonFacts } from './catalogue/known-model.ts';

/** Options for the names of a client. */
interface NamesOptions {
  /** The prefix of aliases; default: none. */
  readonly aliasPrefix?: string;
  /** Whether the client may use a destination; absent: all. */
  readonly allows?: (destination: Destination) => boolean;
  /** Known facts of a destination's model; absent: none. */
  readonly factsOf?: (destination: Destination) => ModelFacts;
}

/**
 * All model names that a client may request: each `provider,model`, each bare name, each pool, then the aliases. Of a pool, one
 * member that is allowed is enough. Ids are unique.
 */
export const modelNames = (
  config: Config,
  { aliasPrefix = '', allows = () => true, factsOf = () => ({}) }: NamesOptions,
): readonly ClientModel[] => {
  const destinations = config.providers.flatMap((provider) =>
    provider.models.map((model) => ({ provider, model })).filter(allows),
  );
  const explicit = destinations.map((destination) => {
    const { provider, model } = destination;
    const id = `${provider.name},${model}`;
    return { id, title: `${model} (${provider.name})`, owner: provider.name, facts: factsOf(destination) };
  });
  const byModel = new Map<string, Destination[]>();
  for (const destination of destinations) {
    const { model } = destination;
    byModel.set(model, [...(byModel.get(model) ?? []), destination]);
  }
  const bare = [...byModel].map(([model, all]) => ({
    id: model,
    title: model,
    owner: gateway,
    facts: commonFacts(all.map(factsOf)),
  }));
  const members = ({ provider, model, pool }: Destination): readonly Destination[] =>
    (pool ? membersOf(pool, config.providers) : [{ provider, model }]).filter(allows);
  const nameFor = (id: string, allowed: readonly Destination[], { provider, model, pool }: Destination) => ({
    id,
    title: pool ? `${pool.name} (pool)` : `${model} (${provider.name})`,
    owner: pool ? gateway : provider.name,
    facts: commonFacts(allowed.map(factsOf)),
  });
  const pools = config.pools.flatMap((pool) => {
    const allowed = membersOf(pool, config.providers).filter(allows);
    const [first] = allowed;
    return first ? [nameFor(pool.name, allowed, { ...first, pool })] : [];
  });
  const aliases = aliasesOf(config).flatMap(({ name, fallbacks, ...destination }) => {
    const allowed = members(destination);
    return allowed.length === 0 ? [] : [nameFor(aliasPrefix + name, [...allowed, ...fallbacks], destination)];
  });
  const byId = new Map<string, ClientModel>();
  for (const row of [...explicit, ...bare, ...pools, ...aliases]) if (!byId.has(row.id)) byId.set(row.id, row);
  return [...byId.values()];
};

/** A destination and the names of the routes to it. */
export interface NamedRoute extends Destination {
  readonly routes: readonly string[];
}

/** The destinations of the default, the scenarios and the user's own rules. Omits routes that match no model. */
export const namedRoutes = (config: Config): readonly NamedRoute[] => {
  const { router } = config;
  const routes = [
    ['default', router.default],
    ...scenarios.map((name) => [name, router.routes[name]] as const),
    ...(router.rules ?? []).map(({ name, to }) => [`${ruleRoute}${name}`, to[0]] as const),
  ] as const;
  const found = new Map<string, Destination & { readonly routes: string[] }>();
  for (const [name, text] of routes) {
    const destination = text === undefined ? undefined : findDestination(config, text);
    if (!destination) continue;
    const key = destinationName(destination);
    const known = found.get(key);
    if (known) known.routes.push(name);
    else found.set(key, { ...destination, routes: [name] });
  }
  return [...found.values()];
};

/** The model name that leads to a destination. */
export const destinationName = ({ provider, model, pool }: Destination): string =>
  pool?.name ?? `${provider.name},${model}`;

/** The prefix of every alias. A protocol may put another word before it. */
const mark = 'junctor-';

/** A model name of characters that every client accepts, and its destination. */
interface Alias extends Destination {
  /** `junctor-<route>`, `junctor-<provider>-<model>` or `junctor-<pool>`. */
  readonly name: string;
  /** The destinations that may answer instead. */
  readonly fallbacks: readonly Destination[];
}

/**
 * The aliases of a configuration: one per usable route, one per model of each provider, one per pool. Equal names are numbered in
 * this order.
 */
export const aliasesOf = (config: Config): readonly Alias[] => {
  const taken = new Map<string, Alias>();
  const add = (text: string, destination: Destination, fallbacks: readonly Destination[]): void => {
    const plain = mark + text.toLowerCase().replace(/[^a-z0-9._-]+/g, '-');
    let name = plain;
    for (let count = 2; taken.has(name); count += 1) name = `${plain}-${count}`;
    taken.set(name, { ...destination, name, fallbacks });
  };
  const { router, providers } = config;
  for (const { routes, ...destination } of namedRoutes(config)) {
    for (const route of routes) {
      const rule = fallbackRules.find((name) => name === route);
      const texts = (rule && router.fallback[rule]) ?? [];
      add(
        route,
        destination,
        texts.flatMap((text) => findDestination(config, text) ?? []),
      );
    }
  }
  for (const provider of providers) {
    for (const model of provider.models) add(`${provider.name}-${model}`, { provider, model }, []);
  }
  for (const pool of config.pools) {
    const destination = poolDestination(pool, config.providers, undefined);
    if (destination) add(pool.name, destination, []);
  }
  return [...taken.values()];
};

/** An alias's name without a client's prefix; `undefined` if the text isn't an alias. */
export const aliasName = (text: string): string | undefined => alias.exec(text.trim())?.[1]?.toLowerCase();

/** The destination of an alias, with or without a client's prefix (`word-` or `word/`); `undefined` for other names. */
export const aliasDestination = (model: string, config: Config): Destination | undefined => {
  const name = aliasName(model);
  if (name === undefined) return undefined;
  return destinationsOf(config).get(name);
};

/** The destinations of all aliases by name. */
const destinationsOf = memoize(
  (config: Config) =>
    new Map(
      aliasesOf(config).map(({ name, provider, model, pool }): [string, Destination] => [
        name,
        { provider, model, pool },
      ]),
    ),
);

const alias = /^(?:[a-z]+[-/])?(junctor-.+)$/i;

/**
 * The name that a client asks for by its references, as lists show it. Only a listed name is one: any other text stays as it is, so that
 * no client gets a variable's value, which may be a key, sent to a provider.
 */
export const askedName = (asked: string, config: Config): string => {
  const name = referredName(config.referred, asked);
  return name === asked || !isListed(name, config) ? asked : name;
};

const isListed = (name: string, config: Config): boolean => {
  if (findPool(config.pools, name) || aliasDestination(name, config)) return true;
  const named = parseDestination(name);
  if (!named) return providersOf(config.providers, name).length > 0;
  const provider = findProvider(config.providers, named.provider);
  return provider !== undefined && listsModel(provider, named.model);
};
