import { schemaReference } from '../../config/json-schema.ts';
import { configFile } from '../../config/read.ts';
import { describeServer, findLocalServers, type LocalServer, localServerKinds } from '../../endpoints/local-servers.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import { changeConfig } from '../change-config.ts';
import { type Cli, CommandError } from '../cli.ts';

/**
 * `junctor providers find`: prints the model servers that run on this machine. With `add`, those that no provider names yet
 * become providers.
 */
export const findProviders = async (
  cli: Cli,
  { json = false, add = false }: { readonly json?: boolean; readonly add?: boolean },
  places = localServerKinds,
): Promise<void> => {
  const found = await findLocalServers(places);
  if (json) cli.print(JSON.stringify(found, null, 2));
  else {
    if (found.length === 0) cli.print('No model server was found at the usual ports of this machine.');
    for (const server of found) cli.print(describeServer(server));
  }
  const usable = found.filter(({ models }) => models.length > 0);
  if (!add || usable.length === 0) return;
  const added: string[] = [];
  const written = await changeConfig(cli, (source) => withServers(source, usable, added), { $schema: schemaReference });
  if (written === undefined) throw new CommandError(`${configFile(cli.home, cli.env)} can't be written.`);
  cli.warn(added.length > 0 ? `Added to ${written}: ${added.join(', ')}.` : `${written} names them already.`);
};

/** Adds the servers whose base URL no provider has. The first becomes the default if there is none. */
const withServers = (source: JsonObject, servers: readonly LocalServer[], added: string[]): JsonObject => {
  const before: readonly Json[] = Array.isArray(source.Providers) ? source.Providers : [];
  const taken = new Set(before.flatMap((row) => (isJsonObject(row) ? [row.baseUrl, row.api_base_url] : [])));
  const names = new Set(before.flatMap((row) => (isJsonObject(row) ? [String(row.name).toLowerCase()] : [])));
  const rows = servers
    .filter(({ baseUrl }) => !taken.has(baseUrl))
    .map(({ name, baseUrl, models }) => ({
      name: freeName(name, names),
      baseUrl,
      apiKey: '',
      models: models.map((model) => model.name),
    }));
  added.push(...rows.map(({ name }) => name));
  const router = isJsonObject(source.Router) ? source.Router : {};
  const first = rows[0];
  return {
    ...source,
    Providers: [...before, ...rows],
    ...(router.default === undefined &&
      first && { Router: { ...router, default: `${first.name},${first.models[0]}` } }),
  };
};

const freeName = (name: string, names: ReadonlySet<string>): string => {
  if (!names.has(name)) return name;
  for (let number = 2; ; number += 1) if (!names.has(`${name}-${number}`)) return `${name}-${number}`;
};
