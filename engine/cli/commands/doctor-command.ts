import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Config } from '../../config/config.ts';
import { formatFindings } from '../../config/diagnostics.ts';
import { configFile, readConfig } from '../../config/read.ts';
import { findDestination, findProvider, parseDestination } from '../../config/sections/destination.ts';
import { isDemo } from '../../config/sections/providers.ts';
import { applyChange, type Patient, sayChange } from '../../doctor/change.ts';
import { type Examination, examine } from '../../doctor/examine.ts';
import { openPatient } from '../../doctor/patient.ts';
import { boundLine, findingLines, shownBytes, unexaminedLines } from '../../doctor/report.ts';
import { messageOf } from '../../model/fault.ts';
import type { JsonObject } from '../../model/json/json.ts';
import { changeConfig } from '../change-config.ts';
import { type Cli, CommandError } from '../cli.ts';
import { type Leave, leaveOf } from '../leave.ts';
import { judgeOffline } from '../offline-gateway.ts';

/** Options of `junctor doctor`, as typed. */
interface DoctorOptions extends Leave {
  readonly yes?: boolean;
  readonly apply?: boolean;
  readonly json?: boolean;
}

/** Exit code after a signal. */
const interruptedCode = 130;

/**
 * `junctor doctor`: examines a provider's model by a few requests, and says what heals each deviation. Returns 1 if a deviation stays, 130
 * after a signal.
 */
export const runDoctor = async (cli: Cli, target: string | undefined, options: DoctorOptions): Promise<number> => {
  const read = await readConfig(cli.home, cli.env);
  const file = configFile(cli.home, cli.env);
  if (read.type === 'missing') throw new CommandError(`${file} does not exist. The first start creates it.`);
  if (read.type === 'invalid') throw new CommandError(`${file} has faults:${formatFindings(read.faults)}`);
  const patient = patientIn(read.config, target);
  const stopping = new AbortController();
  const onSignal = (): void => {
    if (stopping.signal.aborted) process.exit(interruptedCode);
    stopping.abort(new CommandError('Interrupted.'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  const { keyCommands } = leaveOf(options);
  const { config, source } = read;
  const opened = await openPatient({ ...cli, patient, config, keyCommands, interrupted: stopping.signal });
  try {
    cli.warn(boundLine(patient, opened.price));
    if (!options.yes && !(await agrees('Go on?', stopping.signal))) return 0;
    const findings = await examine({
      patient,
      source,
      open: opened.open,
      found: (finding) => {
        if (!options.json) for (const line of findingLines(patient, finding)) cli.print(line);
      },
    });
    report(cli, patient, findings, options);
    const isApplied = await offer(cli, patient, findings, options, stopping.signal);
    const stays = findings.findings.some(({ verdict, cure }) => verdict.type === 'deviation' && !(cure && isApplied));
    return stays ? 1 : 0;
  } catch (error) {
    if (stopping.signal.aborted) {
      cli.warn('Interrupted: nothing was changed.');
      return interruptedCode;
    }
    throw error instanceof CommandError
      ? error
      : new CommandError(`${patient.provider},${patient.model} can't be examined: ${messageOf(error)}`);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
    await opened.close();
  }
};

/** The subject of an examination: a destination, a provider's first model, or the default route. Throws a `CommandError` that says what is wrong. */
const patientIn = (config: Config, target: string | undefined): Patient => {
  const { providers, pools, router } = config;
  const asked = target ?? router.default;
  if (asked === undefined) throw new CommandError('Name a provider: there is no default route.');
  const named = parseDestination(asked);
  const name = named?.provider ?? asked.trim();
  const provider =
    findProvider(providers, name) ?? (named ? undefined : findDestination({ providers, pools }, asked)?.provider);
  if (!provider) {
    const known = providers.map((one) => one.name).join(', ');
    throw new CommandError(`There is no provider "${name}"${known === '' ? '' : `; there are: ${known}`}.`);
  }
  const isModel = !named && provider.name.toLowerCase() !== name.toLowerCase();
  const model = named?.model ?? (isModel ? asked.trim() : provider.models[0]);
  if (model === undefined || model === '')
    throw new CommandError(`Provider "${provider.name}" lists no models: name one, as in ${provider.name},MODEL.`);
  if (isDemo(provider.baseUrl))
    throw new CommandError(`Provider "${provider.name}" is the gateway's own: there is nothing to examine.`);
  if (provider.credentials === 'client')
    throw new CommandError(`Provider "${provider.name}" has no key of its own: its clients send theirs.`);
  return { provider: provider.name, model };
};

const isTerminal = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Asks on a terminal; elsewhere, `otherwise`. */
const agrees = async (question: string, signal: AbortSignal, otherwise = true): Promise<boolean> => {
  if (!isTerminal()) return otherwise;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // A terminal that is read line by line sends no signals itself.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // An end of the input is no answer.
  const closed = once(lines, 'close').then(() => '');
  const answered = lines.question(`${question} [y/N] `, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return '';
  });
  try {
    const answer = await Promise.race([answered, closed]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
};

const report = (
  cli: Cli,
  patient: Patient,
  { findings, changes, requests }: Examination,
  { json }: DoctorOptions,
): void => {
  if (json) {
    const shown = findings.map(({ bytes, ...finding }) => ({
      ...finding,
      ...(bytes !== undefined && { bytes: shownBytes(bytes) }),
    }));
    cli.print(JSON.stringify({ ...patient, requests, findings: shown, changes }, null, 2));
    return;
  }
  for (const line of unexaminedLines) cli.print(line);
  const deviations = findings.filter(({ verdict }) => verdict.type === 'deviation').length;
  cli.print(
    `${requests} requests; ${deviations === 0 ? 'no deviation' : deviations === 1 ? '1 deviation' : `${deviations} deviations`}.`,
  );
};

/** Writes what heals into the configuration, if the user wants that. Returns whether it did. */
const offer = async (
  cli: Cli,
  patient: Patient,
  { changes }: Examination,
  { apply = false, json = false, ...leave }: DoctorOptions,
  signal: AbortSignal,
): Promise<boolean> => {
  if (changes.length === 0) return false;
  const file = configFile(cli.home, cli.env);
  if (
    !apply &&
    (json ||
      !(await agrees(
        `Apply ${changes.length === 1 ? 'this change' : `these ${changes.length} changes`} to ${file}?`,
        signal,
        false,
      )))
  ) {
    if (!json) cli.warn('Nothing was changed; --apply writes what heals into the configuration.');
    return false;
  }
  const changed = (source: JsonObject): JsonObject =>
    changes.reduce((before, change) => applyChange(before, patient, change), source);
  const read = await readConfig(cli.home, cli.env);
  if (read.type === 'valid') {
    const { faults } = await judgeOffline(changed(read.source), cli, leave);
    if (faults.length > 0) throw new CommandError(`Nothing was written:${formatFindings(faults)}`);
  }
  const written = await changeConfig(cli, changed);
  if (written === undefined) throw new CommandError(`${file} can't be written.`);
  cli.warn(`Written to ${written}: ${changes.map((change) => sayChange(patient, change)).join('; ')}`);
  return true;
};
