import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { bench } from '../../bench/bench.ts';
import type { BenchOptions } from '../../bench/options.ts';
import { type Configured, withoutKeys } from '../../bench/targets/configured.ts';
import { stageFile } from '../../bench/targets/staged.ts';
import { type Environment, references } from '../../config/env.ts';
import { configFile, readConfig } from '../../config/read.ts';
import { validateConfig } from '../../config/validate.ts';
import { type Cli, CommandError } from '../cli.ts';
import { type Leave, leaveOf } from '../leave.ts';
import { judgeOffline } from '../offline-gateway.ts';
import { printFindings } from './config-commands.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Exit code after a signal. */
const interruptedCode = 130;

/**
 * `junctor bench`: measures gateways against simulated vendors. The first SIGINT, SIGTERM or SIGHUP ends what was started and prints nothing more;
 * a second one ends the command at once. Returns the exit code.
 */
export const runBench = async (
  cli: Cli,
  scenes: readonly string[],
  {
    config,
    allowTransformerPath = [],
    ...options
  }: BenchOptions & Pick<Leave, 'allowTransformerPath'> & { config?: string },
): Promise<number> => {
  const stopping = new AbortController();
  const onSignal = (): void => {
    // Running participants end when the process exits.
    if (stopping.signal.aborted) process.exit(interruptedCode);
    cli.warn('Stopping; once more to stop at once.');
    stopping.abort(new CommandError('Interrupted: what was started has ended.'));
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const { print, warn, env } = cli;
    const configured = config === undefined ? undefined : await readConfigured(cli, config, { allowTransformerPath });
    if (configured === 'faulty') return 1;
    if (options.stage !== undefined) await checkStage(cli, options.stage, configured, allowTransformerPath);
    return await bench({ print, warn, env, interrupted: stopping.signal }, scenes, options, configured);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    cli.warn('Interrupted: what was started has ended.');
    return interruptedCode;
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
};

/** Rejects, with the reason, if a stage can't be loaded, or doesn't fit the configuration. */
const checkStage = async (
  { env }: Cli,
  written: string,
  configured: Configured | undefined,
  folders: readonly string[],
): Promise<void> => {
  const file = stageFile(written);
  const { transformers = [], ...source } = configured?.source ?? {};
  const own = Array.isArray(transformers) ? transformers : [];
  const { faults } = await judgeOffline(
    { ...source, transformers: [...own, { path: file }] },
    { home: dirname(configured?.file ?? file), env },
    { allowTransformerPath: [dirname(file), ...folders] },
  );
  const fault = faults.find(({ path }) => path.startsWith(`transformers[${own.length}]`));
  if (fault) throw new CommandError(`${written} ${fault.message}`);
};

/** Reads the configuration that is to be measured; `faulty`: its faults were printed, as `junctor config check` does. */
const readConfigured = async (cli: Cli, written: string, leave: Leave): Promise<Configured | 'faulty'> => {
  const file = resolve(written);
  if (!existsSync(file)) throw new CommandError(`There is no file ${written}.`);
  const home = dirname(file);
  const env: Environment = { ...cli.env, JUNCTOR_CONFIG: file };
  const read = await readConfig(home, env);
  const source = read.type !== 'missing' && read.source ? withoutKeys(read.source) : undefined;
  const findings = source
    ? await judgeOffline(source, { home, env }, leave)
    : { faults: read.type === 'invalid' ? read.faults : [], warnings: [] };
  const result = source && validateConfig(source, env);
  if (findings.faults.length > 0 || !source || !result || 'faults' in result) {
    printFindings(cli, configFile(home, env), findings);
    return 'faulty';
  }
  const referred = references(source).flatMap(({ name }) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { transformerFolders: folders } = leaveOf(leave);
  return { file, source, config: result.config, folders, env: Object.fromEntries(referred) };
};
