import { type Finding, wordFinding } from '../config/findings.ts';
import { configFile, readConfig } from '../config/read.ts';
import type { Cli } from './cli.ts';
import { dryYard } from './dry-yard.ts';

/**
 * `switchyard config check`: all that is wrong with the configuration, and all that may be. Gives the exit code: 1 when the
 * service could not start with it.
 */
export const checkConfig = async (
  cli: Cli,
  { allowTransformerPath = [] }: { readonly allowTransformerPath?: readonly string[] },
): Promise<number> => {
  const file = configFile(cli.home);
  const read = await readConfig(cli.home, cli.env);
  if (read.type === 'missing') {
    cli.say(`${file} is not there: the first start makes one from the keys in the environment, or serves a demo.`);
    return 0;
  }
  const deeper = read.type === 'valid' ? (await dryYard(read.config, cli.home, allowTransformerPath)).findings : [];
  const faults = read.type === 'invalid' ? read.faults : [];
  const warnings = [...read.warnings, ...deeper];
  for (const fault of faults) cli.say(line('fault', fault));
  for (const warning of warnings) cli.say(line('warning', warning));
  cli.say(`${file}: ${count(faults.length, 'fault')}, ${count(warnings.length, 'warning')}`);
  return faults.length > 0 ? 1 : 0;
};

const line = (kind: string, finding: Finding): string => `${kind.padEnd(8)} ${wordFinding(finding)}`;

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
