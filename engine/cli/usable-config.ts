import { formats } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import type { Finding } from '../config/diagnostics.ts';
import { firstRunConfig } from '../config/first-run.ts';
import { configFile, readConfig } from '../config/read.ts';
import { validateConfig } from '../config/validate.ts';
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
