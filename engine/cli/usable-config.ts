import type { Config } from '../config/config.ts';
import { wordFinding } from '../config/findings.ts';
import { configFile, readConfig } from '../config/read.ts';
import { type Cli, CommandError } from './cli.ts';

/** The configuration, which has to be there and right. Throws a `CommandError` when it isn't. */
export const usableConfig = async ({ home, env }: Pick<Cli, 'home' | 'env'>): Promise<Config> => {
  const read = await readConfig(home, env);
  if (read.type === 'valid') return read.config;
  if (read.type === 'missing') throw new CommandError(`${configFile(home)} is not there; the first start makes one.`);
  throw new CommandError(`${configFile(home)} can't be used: ${read.faults.map(wordFinding).join('; ')}`);
};
