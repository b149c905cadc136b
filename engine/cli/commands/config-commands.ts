import { type Finding, formatFinding } from '../../config/diagnostics.ts';
import { schemaText } from '../../config/json-schema.ts';
import { configFile, readConfig } from '../../config/read.ts';
import type { Cli } from '../cli.ts';
import { offlineGateway } from '../offline-gateway.ts';

/**
 * `junctor config check`: prints every fault and warning of the configuration. Applies the same checks as a running service.
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

/** `junctor config schema`: prints the JSON Schema of `config.json`. */
export const printSchema = (cli: Cli): void => cli.print(schemaText());
