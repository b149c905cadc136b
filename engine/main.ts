import { banner } from './banner.ts';
import { defaults } from './config/config.ts';
import type { Environment } from './config/interpolate.ts';
import { configFile, readConfig } from './config/read.ts';
import { ConfigError } from './load-config.ts';
import { claimHome } from './workers/claim-home.ts';
import { type ForkedWorker, forkWorker } from './workers/fork-worker.ts';
import { ownWorker } from './workers/own-worker.ts';
import { baseUrlOf } from './workers/place.ts';
import { processTitles } from './workers/process-titles.ts';
import { Supervisor } from './workers/supervisor.ts';

/** What the service is run with. */
export interface MainOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders beside `home` from which custom transformers may be loaded. */
  readonly transformerFolders: readonly string[];
  /** Takes lines for the person who starts the service. */
  readonly report: (line: string) => void;
  /** Takes what there is to say once the service runs. */
  readonly greet: (text: string) => void;
}

/**
 * Runs the service in this process, which stands for it until the end. As long as one worker is wanted it serves by itself; after
 * a restart, or with more workers, others serve and it looks after them. The first SIGINT or SIGTERM lets requests finish and
 * ends with exit code 0, a second one doesn't wait. Rejects with an error worded for users when the service can't start.
 */
export const main = async ({ env, home, transformerFolders, report, greet }: MainOptions): Promise<void> => {
  process.title = processTitles.service;
  const claim = await claimHome(home, report);
  process.once('exit', claim.release);
  let started = false;
  const forked = new Set<ForkedWorker>();
  const wanted = (): Promise<number> => wantedWorkers(home, env);
  const restart = (): Promise<void> => supervisor.restart();
  const supervisor = new Supervisor({
    startedAtMs: Date.now(),
    wanted,
    report,
    changed: (fleet) => {
      for (const worker of forked) worker.inform(fleet);
      if (started && supervisor.place) claim.serving(supervisor.place);
    },
    async fork(taken) {
      const worker = await forkWorker({ home, transformerFolders, taken, fleet: supervisor.fleet, restart });
      forked.add(worker);
      void worker.exited.then(() => forked.delete(worker));
      return worker;
    },
  });

  let hello = '';
  if ((await wanted()) === 1) {
    // A process that only looks after others needs none of what serving takes.
    const { start } = await import('./start.ts');
    const supervision = { fleet: () => supervisor.fleet, restart };
    const service = await start({ env, home, transformerFolders, report, sharing: { taken: undefined }, supervision });
    supervisor.takeIn(ownWorker(service));
    hello = banner(service);
  } else {
    await supervisor.start();
    const read = await readConfig(home, env);
    if (supervisor.place && read.type === 'valid') {
      const baseUrl = baseUrlOf(supervisor.place);
      hello = banner({ baseUrl, config: read.config, file: configFile(home), demo: false });
    }
  }
  started = true;
  if (supervisor.place) claim.serving(supervisor.place);

  let stopping = false;
  const onSignal = (): void => {
    if (stopping) {
      supervisor.kill();
      process.exit(1);
    }
    stopping = true;
    claim.stopping();
    void supervisor.stop().then(() => process.exit(0));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  greet(hello);
};

const wantedWorkers = async (home: string, env: Environment): Promise<number> => {
  const read = await readConfig(home, env);
  if (read.type === 'invalid') throw new ConfigError(configFile(home), read.faults);
  return read.type === 'valid' ? read.config.workers : defaults.workers;
};
