import { type Finding, formatFinding } from '../config/diagnostics.ts';
import { schemaText } from '../config/json-schema.ts';
import { configFile, readConfig } from '../config/read.ts';
import { destinationName, modelNames, namedRoutes } from '../routing/model-names.ts';
import { type Cli, usableConfig } from './cli.ts';
import { offlineGateway } from './offline-gateway.ts';

/**
 * `switchyard config check`: prints every fault and warning of the configuration. Applies the same checks as a running service.
 * Returns the exit code: 1 if there are faults.
 */
export const checkConfig = async (
  cli: Cli,
  { allowTransformerPath = [] }: { readonly allowTransformerPath?: readonly string[] },
): Promise<number> => {
  const file = configFile(cli.home, cli.env);
  const read = await readConfig(cli.home, cli.env);
  if (read.type === 'missing') {
    cli.print(`${file} does not exist. The first start creates it from API keys in the environment, or serves a demo.`);
    return 0;
  }
  const checked =
    read.type === 'valid' ? (await offlineGateway(read.config, cli.home, allowTransformerPath)).checked : undefined;
  const faults = read.type === 'invalid' ? read.faults : (checked?.faults ?? []);
  const warnings = [...read.warnings, ...(checked?.warnings ?? [])];
  for (const fault of faults) cli.print(formatLine('fault', fault));
  for (const warning of warnings) cli.print(formatLine('warning', warning));
  cli.print(`${file}: ${count(faults.length, 'fault')}, ${count(warnings.length, 'warning')}`);
  return faults.length > 0 ? 1 : 0;
};

const formatLine = (kind: string, finding: Finding): string => `${kind.padEnd(8)} ${formatFinding(finding)}`;

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;

/** `switchyard config schema`: prints the JSON Schema of `config.json`. */
export const printSchema = (cli: Cli): void => cli.print(schemaText());

/** `switchyard models`: lists every model name that a request may use, and the routes that lead to it. */
export const listModels = async (cli: Cli, { json = false }: { readonly json?: boolean }): Promise<void> => {
  const config = await usableConfig(cli);
  const routes = new Map(namedRoutes(config).map((route) => [destinationName(route), route.routes]));
  const models = modelNames(config, '').map(({ id, title }) => ({ id, title, routes: routes.get(id) ?? [] }));
  if (json) {
    cli.print(JSON.stringify(models, null, 2));
    return;
  }
  const width = Math.max(0, ...models.map(({ id }) => id.length));
  for (const { id, title, routes: names } of models) {
    cli.print(`${id.padEnd(width)}  ${title}${names.length > 0 ? `  ← ${names.join(', ')}` : ''}`);
  }
};
