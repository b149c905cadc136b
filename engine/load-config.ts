import type { Config } from './config/config.ts';
import { type Finding, wordFinding } from './config/findings.ts';
import { firstStart, type KnownVendor } from './config/first-start.ts';
import type { Environment } from './config/interpolate.ts';
import { configFile, readConfig } from './config/read.ts';
import { validateConfig } from './config/validate.ts';
import { type Demo, startDemo } from './demo/start-demo.ts';
import type { JsonObject } from './model/json.ts';

/** A configuration that can be used, and where it came from. */
export interface LoadedConfig {
  /** In the user's spelling. */
  readonly written: JsonObject;
  readonly config: Config;
  readonly warnings: readonly Finding[];
  /** None when the service runs without. */
  readonly file: string | undefined;
  /** The embedded upstream, where nothing else is configured. */
  readonly demo: Demo | undefined;
}

/** The configuration can't be used; the message lists every fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(file: string, faults: readonly Finding[]) {
    super(`${file} can't be used:\n${faults.map((fault) => `  ${wordFinding(fault)}`).join('\n')}`);
  }
}

/** Reads the folder's configuration; where there is none, makes one up from the environment, or starts the demo. */
export const loadConfig = async (
  home: string,
  env: Environment,
  vendors: readonly KnownVendor[],
): Promise<LoadedConfig> => {
  const file = configFile(home);
  const read = await readConfig(home, env);
  if (read.type === 'invalid') throw new ConfigError(file, read.faults);
  if (read.type === 'valid')
    return { written: read.written, config: read.config, warnings: read.warnings, file, demo: undefined };
  const demo = vendors.some(({ variable }) => env[variable]) ? undefined : await startDemo();
  const first = await firstStart(home, vendors, env, demo?.baseUrl ?? '');
  const result = validateConfig(first.written, env);
  if ('faults' in result) throw new ConfigError(file, result.faults);
  const unwritten = first.problem === undefined ? [] : [{ path: file, message: `can't be written (${first.problem})` }];
  return {
    written: first.written,
    config: result.config,
    warnings: [...unwritten, ...result.warnings],
    file: first.file,
    demo,
  };
};
