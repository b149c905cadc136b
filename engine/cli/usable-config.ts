import { formats } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import { type Finding, wordFinding } from '../config/findings.ts';
import { firstConfig } from '../config/first-start.ts';
import { configFile, readConfig } from '../config/read.ts';
import { validateConfig } from '../config/validate.ts';
import { knownVendors } from '../known-vendors.ts';
import { type Cli, CommandError } from './cli.ts';

/** Stands for the embedded upstream, whose port is known only while the service runs. */
const demoBaseUrl = 'http://demo.invalid/v1';

/**
 * The configuration that a start would use: the one on disk, or where there is none what a first start would make up. Throws a
 * `CommandError` when it can't be used.
 */
export const usableConfig = async ({ home, env }: Pick<Cli, 'home' | 'env'>): Promise<Config> => {
  const read = await readConfig(home, env);
  if (read.type === 'valid') return read.config;
  if (read.type === 'invalid') return refuse(home, read.faults);
  const made = validateConfig(firstConfig(knownVendors(formats), env, demoBaseUrl).written, env);
  return 'config' in made ? made.config : refuse(home, made.faults);
};

const refuse = (home: string, faults: readonly Finding[]): never => {
  throw new CommandError(`${configFile(home)} can't be used: ${faults.map(wordFinding).join('; ')}`);
};
