import { CheckedConfig } from '../../../admin/schema.ts';
import { type Finding, formatFinding } from '../../config/diagnostics.ts';
import { schemaText } from '../../config/json-schema.ts';
import type { Findings } from '../../config/judge.ts';
import { configFile, readConfig } from '../../config/read.ts';
import { reader } from '../../model/schema.ts';
import type { Cli } from '../cli.ts';
import type { Leave } from '../leave.ts';
import { judgeOffline } from '../offline-gateway.ts';
import { callService, locateService } from '../reach-service.ts';

/**
 * `junctor config check`: prints every fault and warning of the configuration. The running service judges it, with its own environment, as
 * at a reload; without one, it is judged as at a start from this shell. Returns the exit code: 1 if there are faults.
 */
export const checkConfig = async (cli: Cli, leave: Leave): Promise<number> => {
  const file = configFile(cli.home, cli.env);
  const read = await readConfig(cli.home, cli.env);
  const byService = await judgedByService(cli);
  // A running service takes the removal of its file for a fault.
  if (read.type === 'missing' && !byService?.faults.length) {
    cli.print(`${file} does not exist. The first start creates it from API keys in the environment, or serves a demo.`);
    return 0;
  }
  const findings = byService ?? (await judgedHere(cli, read, leave));
  printFindings(cli, file, findings);
  cli.warn(
    byService
      ? 'Judged by the running service, with its environment variables.'
      : "Judged by this shell's environment variables: no service answers for this folder.",
  );
  return findings.faults.length > 0 ? 1 : 0;
};

/** Prints what was found in a configuration's file, and how much. */
export const printFindings = ({ print }: Pick<Cli, 'print'>, file: string, { faults, warnings }: Findings): void => {
  for (const fault of faults) print(formatLine('fault', fault));
  for (const warning of warnings) print(formatLine('warning', warning));
  print(`${file}: ${count(faults.length, 'fault')}, ${count(warnings.length, 'warning')}`);
};

const checked = reader(CheckedConfig, { compiled: false });

/** `undefined`: no service runs on this folder, or it doesn't take the key of the configuration on disk. */
const judgedByService = async (cli: Cli): Promise<Findings | undefined> => {
  const located = await locateService(cli);
  if (located.found.type !== 'running') return undefined;
  const answer = await callService(located, 'GET', '/api/config/check').catch(() => undefined);
  return checked.matches(answer?.body) ? answer.body : undefined;
};

const judgedHere = (
  cli: Cli,
  read: Awaited<ReturnType<typeof readConfig>>,
  leave: Leave,
): Promise<Findings> | Findings => {
  if (read.type !== 'missing' && read.source) return judgeOffline(read.source, cli, leave);
  return read.type === 'invalid' ? read : { faults: [], warnings: [] };
};

const formatLine = (kind: string, finding: Finding): string => `${kind.padEnd(8)} ${formatFinding(finding)}`;

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;

/** `junctor config schema`: prints the JSON Schema of `config.json`. */
export const printSchema = (cli: Cli): void => cli.print(schemaText());
