import { join } from 'node:path';
import type { Environment } from '../config/env.ts';
import { configFile, readConfig } from '../config/read.ts';
import { readStateKeys } from '../config/sections/fleet.ts';
import { defaultSettings } from '../config/sections/service-settings.ts';
import { chooseServer } from '../http/choose-server.ts';
import { BlobJournal } from '../hub/blob-journal.ts';
import type { HubStore } from '../hub/contract.ts';
import type { AppLog } from '../observe/log/logs.ts';
import { taughtFile, taughtPrefix } from '../routing/taught.ts';
import { banner } from './banner.ts';
import { ConfigError } from './load-config.ts';
import type { ServicePersistence } from './persistence.ts';
import type { Service } from './server.ts';
import { claimHome, type HomeClaim } from './workers/claim-home.ts';
import { processTitles } from './workers/find-service.ts';
import type { ForkedWorker } from './workers/fork-worker.ts';
import { terminalCheck, whenParentEnds } from './workers/parent.ts';
import { ownPeer, PeerExchange } from './workers/peers.ts';
import { guardProcess, outliveOutput } from './workers/process-guards.ts';
import { Supervisor } from './workers/supervisor.ts';
import type { Worker, WorkerExit } from './workers/worker.ts';

/** Size of the file of what refusals have taught. */
const maxTaughtBytes = 1 << 20;

/** Options of the service's start. */
export interface MainOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders, besides `home`, from which custom transformers may be loaded. */
  readonly transformerFolders: readonly string[];
  /** Commands that may be run for the keys of providers. */
  readonly keyCommands: readonly string[];
  /** Ends the service when its parent process has ended. */
  readonly followParent: boolean;
  /** Prints a line on the terminal. */
  readonly report: (line: string) => void;
  /** Prints the start-up banner. */
  readonly greet: (text: string) => void;
}

/**
 * Runs the service; this process is its supervisor until the end. With one worker it serves requests itself; after a restart,
 * with more workers, or with `node:http`, forked processes serve. The first SIGINT or SIGTERM lets requests finish and exits with
 * code 0, the second exits at once with code 1. SIGHUP restarts the workers with the current configuration; if the terminal was
 * closed, it acts as SIGTERM does. Rejects with an error worded for users if the service can't start.
 */
export const main = async (options: MainOptions): Promise<void> => {
  const { env, home, transformerFolders, keyCommands, followParent, report, greet } = options;
  process.title = processTitles.service;
  outliveOutput();
  let logs: Service['logs'] | undefined;
  guardProcess({ log: () => logs?.app, flush: () => logs?.flushSync(), report });
  let claim: HomeClaim | undefined;
  let started = false;
  const forked = new Set<ForkedWorker>();
  const http = chooseServer(env.JUNCTOR_HTTP);
  let greeting = '';
  let persistence: Promise<ServicePersistence> | undefined;
  const wanted = (): Promise<number> => wantedWorkers(home, env);
  const restart = (): Promise<void> => supervisor.restart();
  const journal =
    readStateKeys(env).length > 0 ? new BlobJournal({ path: join(home, 'reasoning.sealed'), report }) : undefined;
  const taught = new BlobJournal({
    path: taughtFile(home),
    maxBytes: maxTaughtBytes,
    contents: 'what refusals have taught',
    report,
  });
  const supervisor = new Supervisor({
    startedAtMs: Date.now(),
    wanted,
    async judge() {
      const why = await exchange.judge();
      if (why !== '') throw new Error(why);
    },
    report,
    changed: (workers) => {
      for (const worker of forked) worker.inform(workers);
      if (started && supervisor.place) claim?.serving(supervisor.place);
    },
    async fork(taken) {
      const { server } = http.facts;
      const { forkWorker } = await import('./workers/fork-worker.ts');
      const worker = await forkWorker({
        home,
        transformerFolders,
        keyCommands,
        taken,
        workers: supervisor.workers,
        server,
        exchange,
        restart,
      });
      greeting ||= worker.greeting;
      forked.add(worker);
      void worker.exited.then(() => forked.delete(worker));
      return worker;
    },
  });

  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    claim?.stopping();
    void supervisor
      .stop()
      .then(async () => (await persistence)?.close())
      .finally(() => process.exit(0));
  };
  const onSignal = (): void => {
    if (stopping) {
      supervisor.kill();
      process.exit(1);
    }
    stop();
  };
  const isTerminalClosed = terminalCheck();
  const onHangUp = (): void => {
    if (isTerminalClosed()) stop();
    // During the start the configuration is read anyway.
    else if (started && !stopping) {
      report('SIGHUP: restarting with the current configuration');
      restart().catch((error: unknown) =>
        report(
          `the restart failed; the service continues unchanged: ${error instanceof Error ? error.message : error}`,
        ),
      );
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  process.on('SIGHUP', onHangUp);
  if (followParent) whenParentEnds(stop);
  // Handlers are set before the folder is claimed: the default action of a signal would leave the claim behind.
  claim = await claimHome(home, report);
  process.once('exit', claim.release);
  process.once('exit', () => journal?.flush());
  process.once('exit', () => taught.flush());
  const log: Pick<AppLog, 'warn'> = {
    warn: (message, fields) => (logs ? logs.app.warn(message, fields) : report(`warning: ${message}`)),
  };
  const exchange = new PeerExchange({
    journal,
    lasting: { prefix: taughtPrefix, journal: taught },
    fleet: await fleetStore(home, env, report),
    persistence() {
      // Imported here, since a supervisor keeps nothing before the first process serves.
      persistence ??= import('./persistence.ts').then(({ openPersistence }) => openPersistence({ home, log }));
      return persistence;
    },
  });

  // With node:http, only forked processes can hand the port on to the ones that replace them.
  if ((await wanted()) === 1 && http.facts.server === 'uws') {
    // Imported here, since a process that only supervises doesn't need the server's modules.
    const { start } = await import('./server.ts');
    const peers = ownPeer(exchange);
    const supervision = { workers: () => supervisor.workers, restart, peers };
    const sharing = { taken: undefined };
    const allowed = { transformerFolders, keyCommands };
    const service = await start({ env, home, ...allowed, report, sharing, supervision, server: http });
    logs = service.logs;
    const worker = inProcessWorker(service);
    void worker.exited.then(() => {
      peers.leave();
      logs = undefined;
    });
    supervisor.takeIn(worker);
    greeting = banner({ ...service, file: configFile(home, env) });
  } else await supervisor.start();
  started = true;
  if (supervisor.place) claim.serving(supervisor.place);
  greet(greeting);
};

/** Only this process connects to the store of a fleet. Its modules are loaded only if there is a fleet. */
const fleetStore = async (
  home: string,
  env: Environment,
  report: (line: string) => void,
): Promise<HubStore | undefined> => {
  const read = await readConfig(home, env);
  if (read.type !== 'valid' || !read.config.fleet) return undefined;
  const { openFleetStore } = await import('../hub/fleet.ts');
  return openFleetStore(read.config.fleet, report);
};

const wantedWorkers = async (home: string, env: Environment): Promise<number> => {
  const read = await readConfig(home, env);
  if (read.type === 'missing') return defaultSettings().workers;
  if (read.type === 'valid') return read.config.workers;
  // A worker that can read a part of the configuration tells all of its faults.
  if (read.draft) return read.draft.workers;
  throw new ConfigError(configFile(home, env), read.faults);
};

/** A worker that runs in this process: the fastest to start. Its exit doesn't end the process. */
export const inProcessWorker = (service: Service): Worker => {
  let exit: (how: WorkerExit) => void = () => undefined;
  const exited = new Promise<WorkerExit>((resolve) => {
    exit = resolve;
  });
  const end = (how: 'retire' | 'stop'): void => {
    service[how]().then(
      () => exit({ orderly: true, how: 'done' }),
      (error: unknown) => exit({ orderly: false, how: String(error) }),
    );
  };
  return {
    pid: process.pid,
    startedAtMs: Date.now(),
    place: service.place,
    exited,
    retire: () => end('retire'),
    stop: () => end('stop'),
    kill: () => exit({ orderly: false, how: 'killed' }),
  };
};
