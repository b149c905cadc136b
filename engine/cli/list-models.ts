import { configuredRoutes } from '../routing/configured-routes.ts';
import { listedModels } from '../routing/listed-models.ts';
import type { Cli } from './cli.ts';
import { usableConfig } from './usable-config.ts';

/** `switchyard models`: every name that a request may ask for, and which routes lead there. */
export const listModels = async (cli: Cli, { json = false }: { readonly json?: boolean }): Promise<void> => {
  const config = await usableConfig(cli);
  const routes = new Map(
    configuredRoutes(config).map(({ provider, model, routes: names }) => [`${provider.name},${model}`, names]),
  );
  const models = listedModels(config, '').map(({ id, title }) => ({ id, title, routes: routes.get(id) ?? [] }));
  if (json) {
    cli.say(JSON.stringify(models, null, 2));
    return;
  }
  const width = Math.max(0, ...models.map(({ id }) => id.length));
  for (const { id, title, routes: names } of models) {
    cli.say(`${id.padEnd(width)}  ${title}${names.length > 0 ? `  ← ${names.join(', ')}` : ''}`);
  }
};
