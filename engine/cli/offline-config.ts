import { defaultFormat, formats, stages } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import type { Finding } from '../config/diagnostics.ts';
import { firstRunConfig } from '../config/files/first-run.ts';
import { configFile, readConfig } from '../config/read.ts';
import { validateConfig } from '../config/validate.ts';
import { createCatalogue } from '../routing/catalogue/catalogue.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { TransformerRegistry } from '../routing/plan/choose-format.ts';
import { formatOf } from '../routing/plan/plan.ts';
import { ConfigError, knownVendors } from '../service/load-config.ts';
import type { Cli } from './cli.ts';

/**
 * Returns the configuration that `start` would use: the file's, or the one a first run generates. Throws a `ConfigError` if it
 * is invalid.
 */
export const usableConfig = async ({ home, env }: Pick<Cli, 'home' | 'env'>): Promise<Config> => {
  const read = await readConfig(home, env);
  if (read.type === 'valid') return read.config;
  if (read.type === 'invalid') return failInvalid(configFile(home, env), read.faults);
  const validated = validateConfig(firstRunConfig(knownVendors(formats), env).source, env);
  return 'config' in validated ? validated.config : failInvalid(configFile(home, env), validated.faults);
};

const failInvalid = (file: string, faults: readonly Finding[]): never => {
  throw new ConfigError(file, faults);
};

/** Known facts of a configuration's models outside the service, including the lists in `home`. Loads no module. */
export const offlineModelFacts = async (
  config: Config,
  home: string,
): Promise<{ readonly factsOf: Gateway['modelFacts']; readonly loadPrices: () => Promise<void> }> => {
  const catalogue = createCatalogue(home);
  await catalogue.reload();
  const registry: TransformerRegistry = { formats, stages, defaultFormat, custom: new Map() };
  return {
    factsOf: ({ provider, model }) => catalogue.know(provider, model, formatOf(config, registry, { provider, model })),
    loadPrices: catalogue.loadPrices,
  };
};
