import type { Config } from '../config/config.ts';
import type { ListedModel } from '../model/model-listing.ts';
import { aliasesOf } from './aliases.ts';

/** Owns the names that the gateway's own rules resolve. */
const gateway = 'switchyard';

/**
 * Every name that a client may ask for: `provider,model`, then each bare name once, then the aliases with `aliasPrefix` before
 * them. Each id occurs once.
 */
export const listedModels = (config: Config, aliasPrefix: string): readonly ListedModel[] => {
  const { providers } = config;
  const explicit = providers.flatMap(({ name, models }) =>
    models.map((model) => ({ id: `${name},${model}`, title: `${model} (${name})`, owner: name })),
  );
  const bare = providers.flatMap(({ models }) => models).map((model) => ({ id: model, title: model, owner: gateway }));
  const aliases = aliasesOf(config).map(({ name, provider, model }) => ({
    id: aliasPrefix + name,
    title: `${model} (${provider.name})`,
    owner: provider.name,
  }));
  const byId = new Map<string, ListedModel>();
  for (const row of [...explicit, ...bare, ...aliases]) if (!byId.has(row.id)) byId.set(row.id, row);
  return [...byId.values()];
};
