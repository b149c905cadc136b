import type { Config } from '../config/config.ts';
import { type Finding, formatFinding } from '../config/diagnostics.ts';
import { type Environment, isOverride } from '../config/env.ts';
import type { KnownVendor } from '../config/files/first-run.ts';
import { type Inspect, withInspected } from '../config/judge.ts';
import { configFile, readConfig } from '../config/read.ts';
import { chooseModels } from '../config/sections/choose-models.ts';
import { validateConfig } from '../config/validate.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Format } from '../model/transformer.ts';

/** A valid configuration, and its origin. */
export interface LoadedConfig {
  /** As in the file, before validation. */
  readonly source: JsonObject;
  readonly config: Config;
  readonly warnings: readonly Finding[];
  /** `undefined` if there is no file. */
  readonly file: string | undefined;
  /** No provider is configured; the built-in demo answers. */
  readonly demo: boolean;
}

/** Thrown for an invalid configuration; the message lists all faults. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(file: string, faults: readonly Finding[]) {
    const what = faults.every(({ path }) => isOverride(path)) ? 'The environment' : file;
    super(`${what} can't be used:\n${faults.map((fault) => `  ${formatFinding(fault)}`).join('\n')}`);
  }
}

/**
 * Reads the configuration of `home`. If there is none, generates one from API keys in the environment, with the models that the
 * vendors list now, or starts the demo. Throws a `ConfigError` if the configuration is invalid.
 */
export const loadConfig = async (
  home: string,
  env: Environment,
  vendors: readonly KnownVendor[],
  listModels: (vendor: KnownVendor) => Promise<readonly string[]>,
  /** Finds further faults of a configuration that has some. */
  inspect: Inspect,
): Promise<LoadedConfig> => {
  const file = configFile(home, env);
  const read = await readConfig(home, env);
  if (read.type === 'invalid')
    throw new ConfigError(file, (await withInspected(read, read.source ?? {}, env, inspect)).faults);
  if (read.type === 'valid')
    return { source: read.source, config: read.config, warnings: read.warnings, file, demo: false };
  const { firstRun } = await import('../config/files/first-run.ts');
  const first = await firstRun(home, await withListed(vendors, env, listModels), env);
  const result = validateConfig(first.source, env);
  if ('faults' in result) throw new ConfigError(file, result.faults);
  const unwritten = first.problem === undefined ? [] : [{ path: file, message: `can't be written (${first.problem})` }];
  return {
    source: first.source,
    config: result.config,
    warnings: [...unwritten, ...result.warnings],
    file: first.file,
    demo: first.demo,
  };
};

/** Vendors whose API key is set, with the models in their lists. */
const withListed = (
  vendors: readonly KnownVendor[],
  env: Environment,
  listModels: (vendor: KnownVendor) => Promise<readonly string[]>,
): Promise<KnownVendor[]> =>
  Promise.all(
    vendors
      .filter(({ variable }) => env[variable])
      .map(async (vendor) => ({ ...vendor, models: chooseModels(vendor.models, await listModels(vendor)) })),
  );

/** Vendors that a first run can configure from an API key in the environment. */
export const knownVendors = (formats: ReadonlyMap<string, Format>): readonly KnownVendor[] =>
  [...formats.values()].flatMap(({ name, firstStart }) => (firstStart ? [{ provider: name, ...firstStart }] : []));
