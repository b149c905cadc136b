import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { root } from '../places.ts';
import type { Fleet } from './fleet.ts';
import { fromWorker, type ToWorker } from './messages.ts';
import type { Place } from './place.ts';
import type { Worker, WorkerExit } from './worker.ts';

/** What a worker is started with. */
export interface ForkOptions {
  readonly home: string;
  readonly transformerFolders: readonly string[];
  /** Where others of the service listen already. */
  readonly taken: Place | undefined;
  readonly fleet: Fleet;
  /** The worker's clients ask for a restart of the service. */
  readonly restart: () => Promise<void>;
}

/** A worker that is a process of its own. */
export interface ForkedWorker extends Worker {
  /** Tells it which processes serve now. */
  readonly inform: (fleet: Fleet) => void;
}

/** A worker that hasn't begun to serve after so long won't. In milliseconds. */
const startMs = 60_000;
/** How much longer than the configuration lets streams run a worker may take to end, in milliseconds. */
const graceMs = 5_000;

const entry = fileURLToPath(new URL('engine/launch/worker.js', root));

/** Starts a worker and waits until it serves. Rejects with an error worded for users when it can't. */
export const forkWorker = async (options: ForkOptions): Promise<ForkedWorker> => {
  const child = fork(entry, []);
  const startedAtMs = Date.now();
  let orderly = false;
  const exited = new Promise<WorkerExit>((resolve) => {
    child.once('error', (error) => resolve({ orderly, how: error.message }));
    child.once('exit', (code, signal) => resolve({ orderly, how: signal ? `signal ${signal}` : `exit code ${code}` }));
  });
  const { home, transformerFolders, taken, fleet } = options;
  send(child, {
    type: 'begin',
    home,
    transformerFolders: [...transformerFolders],
    fleet: plain(fleet),
    ...(taken && { taken: { ...taken, addresses: [...taken.addresses] } }),
  });
  const { place, drainMs } = await ready(child, exited);

  child.on('message', (message) => {
    if (!fromWorker.matches(message) || message.type !== 'restart') return;
    options.restart().then(
      () => send(child, { type: 'restarted' }),
      (error: unknown) =>
        send(child, { type: 'restarted', problem: String(error instanceof Error ? error.message : error) }),
    );
  });
  const end = (type: 'retire' | 'stop'): void => {
    orderly = true;
    send(child, { type });
    const timer = setTimeout(() => child.kill('SIGKILL'), drainMs + graceMs);
    void exited.then(() => clearTimeout(timer));
  };
  return {
    pid: child.pid ?? 0,
    startedAtMs,
    place,
    exited,
    retire: () => end('retire'),
    stop: () => end('stop'),
    kill: () => void child.kill('SIGKILL'),
    inform: (now) => send(child, { type: 'fleet', fleet: plain(now) }),
  };
};

/** Resolves with where the worker listens. */
const ready = (
  child: ChildProcess,
  exited: Promise<WorkerExit>,
): Promise<{ readonly place: Place; readonly drainMs: number }> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`A worker did not begin to serve within ${startMs / 1000} s.`));
    }, startMs);
    const settle = (): void => {
      clearTimeout(timer);
      child.off('message', listen);
    };
    const listen = (message: unknown): void => {
      if (!fromWorker.matches(message)) return;
      if (message.type === 'restart') return;
      settle();
      if (message.type === 'ready') resolve(message);
      else reject(new Error(message.message));
    };
    child.on('message', listen);
    void exited.then(({ how }) => {
      settle();
      reject(new Error(`A worker ended before it began to serve (${how}).`));
    });
  });

/** A worker that is gone needs no message. */
const send = (child: ChildProcess, message: ToWorker): void => {
  if (child.connected) child.send(message, () => undefined);
};

const plain = ({ workers, ...fleet }: Fleet) => ({ ...fleet, workers: workers.map((worker) => ({ ...worker })) });
