import type { Config } from '../config/config.ts';
import { configuredRoutes } from './configured-routes.ts';
import type { Destination } from './destination.ts';

/** The word that every alias has; a protocol whose clients want another word in front puts it there. */
const mark = 'switchyard-';

/** A name made of letters that every client takes, and what it stands for. */
export interface Alias extends Destination {
  /** `switchyard-<route>` or `switchyard-<provider>-<model>`. */
  readonly name: string;
}

/**
 * The aliases of a configuration: one for the default and each scenario that leads somewhere, then one for each model of each
 * provider. Names that would be equal are numbered in the configuration's order.
 */
export const aliasesOf = (config: Config): readonly Alias[] => {
  const taken = new Map<string, Alias>();
  const add = (text: string, { provider, model }: Destination): void => {
    const plain = mark + text.toLowerCase().replace(/[^a-z0-9._-]+/g, '-');
    let name = plain;
    for (let count = 2; taken.has(name); count += 1) name = `${plain}-${count}`;
    taken.set(name, { name, provider, model });
  };
  for (const { routes, ...destination } of configuredRoutes(config))
    for (const route of routes) add(route, destination);
  for (const provider of config.providers) {
    for (const model of provider.models) add(`${provider.name}-${model}`, { provider, model });
  }
  return [...taken.values()];
};

/**
 * What an alias stands for, whatever word with a hyphen stands before it; `undefined` for all other names. Looks through the
 * whole configuration, but only for a name that has the mark.
 */
export const aliasDestination = (model: string, config: Config): Destination | undefined => {
  const name = alias.exec(model.trim())?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  const found = aliasesOf(config).find((row) => row.name === name);
  return found && { provider: found.provider, model: found.model };
};

const alias = /^(?:[a-z]+-)?(switchyard-.+)$/i;
