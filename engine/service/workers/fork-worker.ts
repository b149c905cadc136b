import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { root } from '../../paths.ts';
import { fromWorker, type ToWorker } from './ipc-messages.ts';
import type { ListenAddress } from './listen-address.ts';
import type { Worker, WorkerExit, WorkerSet } from './worker.ts';

/** Options for a new worker process. */
interface ForkOptions {
  readonly home: string;
  readonly transformerFolders: readonly string[];
  /** Address where other workers already listen. */
  readonly taken: ListenAddress | undefined;
  readonly fleet: WorkerSet;
  /** Called when a client of this worker requests a restart. */
  readonly restart: () => Promise<void>;
}

/** A worker in a child process. */
export interface ForkedWorker extends Worker {
  /** Sends the current set of serving processes to the worker. */
  readonly inform: (fleet: WorkerSet) => void;
}

/** Start-up timeout of a worker, in milliseconds. */
const startMs = 60_000;
/** Margin on top of the configured drain time, after which a worker is killed, in milliseconds. */
const graceMs = 5_000;

const entry = fileURLToPath(new URL('engine/launch/worker.js', root));

/** Starts a worker and waits until it serves. Rejects with a message for users if it can't. */
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
  const { place, drainMs } = await waitUntilReady(child, exited);

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

/** Waits for the worker's `ready` message. */
const waitUntilReady = (
  child: ChildProcess,
  exited: Promise<WorkerExit>,
): Promise<{ readonly place: ListenAddress; readonly drainMs: number }> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`A worker was not ready within ${startMs / 1000} s.`));
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
      reject(new Error(`A worker exited before it was ready (${how}).`));
    });
  });

/** Sends a message; ignores workers that have exited. */
const send = (child: ChildProcess, message: ToWorker): void => {
  if (child.connected) child.send(message, () => undefined);
};

const plain = ({ workers, ...fleet }: WorkerSet) => ({ ...fleet, workers: workers.map((worker) => ({ ...worker })) });
