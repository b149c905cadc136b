import type { ConfigFile } from '../api/config/config-file.ts';
import { isJsonObject, type Json, type JsonObject } from '../api/json.ts';
import { withInner, withMember } from './fields/field-path.ts';

/** A routing rule: the default, or a scenario. */
export interface Rule {
  readonly name: 'default' | 'compact' | 'longContext' | 'image' | 'webSearch' | 'background' | 'think';
  readonly title: string;
  /** The requests that match, in words. */
  readonly fits: string;
}

/** The rule for what no other matches. */
export const byDefault: Rule = {
  name: 'default',
  title: 'Default',
  fits: 'Requests that match no rule and no scenario.',
};

/** The scenarios, in the order in which they are checked. */
export const scenarios: readonly Rule[] = [
  { name: 'compact', title: 'Compaction', fits: 'A client asks for a summary of its conversation.' },
  { name: 'longContext', title: 'Long context', fits: 'Requests with more tokens than the threshold.' },
  { name: 'image', title: 'Image', fits: 'The latest user turn contains an image.' },
  { name: 'webSearch', title: 'Web search', fits: 'Hosted web search is the only tool, or is forced.' },
  {
    name: 'background',
    title: 'Background',
    fits: 'An agent’s small tasks: it says so, or the requested model has “haiku” in its name.',
  },
  { name: 'think', title: 'Thinking', fits: 'Thinking is enabled with a budget, or with high effort or above.' },
];

/** All rules. */
export const rules: readonly Rule[] = [byDefault, ...scenarios];

/** The path of a rule's destination. Scenarios directly on the router are an older form. */
export const routePath = ({ Router = {} }: ConfigFile, { name }: Rule): string =>
  name === 'default' || (Router.routes?.[name] === undefined && Router[name] !== undefined)
    ? `Router.${name}`
    : `Router.routes.${name}`;

/** A rule's destination; empty if it has none. */
export const routeOf = (config: ConfigFile, rule: Rule): string => {
  const { Router = {} } = config;
  const value = routePath(config, rule) === `Router.${rule.name}` ? Router[rule.name] : Router.routes?.[rule.name];
  return typeof value === 'string' ? value : '';
};

/** A model name that no provider has, so that the rules choose. */
export const routedName = 'junctor';

/** Sets a rule's destination; an empty one is removed. */
export const withRoute = (config: ConfigFile, rule: Rule, destination: string): ConfigFile => {
  const { Router = {} } = config;
  const value = destination === '' ? undefined : destination;
  const isDirect = routePath(config, rule) === `Router.${rule.name}`;
  return {
    ...config,
    Router: isDirect ? withMember(Router, rule.name, value) : withInner(Router, 'routes', rule.name, value),
  };
};

/** The path of a rule's fallbacks. `fallback` beside the router is an older form. */
export const fallbackPath = ({ Router = {}, fallback }: ConfigFile, { name }: Rule): string =>
  Router.fallback?.[name] === undefined && isJsonObject(fallback) && fallback[name] !== undefined
    ? `fallback.${name}`
    : `Router.fallback.${name}`;

/** A rule's fallbacks, in order. */
export const fallbacksOf = (config: ConfigFile, rule: Rule): readonly string[] => {
  const { Router = {}, fallback } = config;
  const isOlder = fallbackPath(config, rule) === `fallback.${rule.name}`;
  const list = isOlder ? memberOf(fallback, rule.name) : Router.fallback?.[rule.name];
  return Array.isArray(list) ? list.map(String) : [];
};

/** Sets a rule's fallbacks; an empty list is removed. */
export const withFallbacks = (config: ConfigFile, rule: Rule, list: readonly string[]): ConfigFile => {
  const value = list.length === 0 ? undefined : list;
  if (fallbackPath(config, rule) === `fallback.${rule.name}`) return withInner(config, 'fallback', rule.name, value);
  return { ...config, Router: withInner(config.Router ?? {}, 'fallback', rule.name, value) };
};

const memberOf = (value: Json | undefined, name: string): Json | undefined => {
  const object: JsonObject = isJsonObject(value) ? value : {};
  return object[name];
};
