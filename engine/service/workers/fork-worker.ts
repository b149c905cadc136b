import { type ChildProcess, fork } from 'node:child_process';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { HttpServerFacts } from '../../http/choose-server.ts';
import { messageOf } from '../../model/fault.ts';
import { root } from '../../paths.ts';
import { type FromWorker, fromWorker, type ToWorker } from './ipc-messages.ts';
import { joinWorker } from './ipc-peers.ts';
import type { ListenAddress } from './listen-address.ts';
import type { PeerExchange } from './peers.ts';
import type { Worker, WorkerExit } from './worker.ts';
import type { WorkerSet } from './worker-set.ts';

/** Options for a new worker process. */
interface ForkOptions {
  readonly home: string;
  readonly transformerFolders: readonly string[];
  readonly keyCommands: readonly string[];
  /** Address where other workers already listen. */
  readonly taken: ListenAddress | undefined;
  readonly workers: WorkerSet;
  /** The HTTP server library. */
  readonly server: HttpServerFacts['server'];
  /** The state that the worker shares with the other processes. */
  readonly exchange: PeerExchange;
  /** Called when a client of this worker requests a restart. */
  readonly restart: () => Promise<void>;
}

/** A worker in a child process. */
export interface ForkedWorker extends Worker {
  /** The start-up banner. */
  readonly greeting: string;
  /** Sends the current set of serving processes to the worker. */
  readonly inform: (workers: WorkerSet) => void;
}

/** Start-up timeout of a worker, in milliseconds. */
const startMs = 60_000;
/** Margin on top of the configured time, after which a worker is killed, in milliseconds. */
const graceMs = 5_000;

const entry = fileURLToPath(new URL('engine/launch/worker.js', root));

/** Starts a worker and waits until it serves. Rejects with a message for users if it can't. */
export const forkWorker = async (options: ForkOptions): Promise<ForkedWorker> => {
  const child = startProcess(options.server);
  const startedAtMs = Date.now();
  let orderly = false;
  const exited = new Promise<WorkerExit>((resolve) => {
    child.once('error', (error) => resolve({ orderly, how: error.message }));
    child.once('exit', (code, signal) => resolve({ orderly, how: signal ? `signal ${signal}` : `exit code ${code}` }));
  });
  const { home, transformerFolders, keyCommands, taken, workers } = options;
  const { nodeId } = options.exchange;
  const begin = (): void =>
    send(child, {
      type: 'begin',
      home,
      transformerFolders,
      keyCommands,
      workers,
      ...(taken && { taken }),
      ...(nodeId !== undefined && { machineId: nodeId }),
    });
  const joined = joinWorker(options.exchange, (message) => send(child, message));
  // `disconnect` comes after the last message; `exit` may come before it.
  child.once('disconnect', () => joined.leave());
  child.on('message', (message) => {
    if (fromWorker.matches(message)) joined.receive(message);
  });
  const { place, endMs, greeting } = await waitUntilReady(child, exited, begin);

  child.on('message', (message) => {
    if (!fromWorker.matches(message) || message.type !== 'restart') return;
    options.restart().then(
      () => send(child, { type: 'restarted' }),
      (error: unknown) => send(child, { type: 'restarted', problem: messageOf(error) }),
    );
  });
  const end = (type: 'retire' | 'stop'): void => {
    orderly = true;
    send(child, { type });
    const timer = setTimeout(() => child.kill('SIGKILL'), endMs + graceMs);
    void exited.then(() => clearTimeout(timer));
  };
  return {
    pid: child.pid ?? 0,
    startedAtMs,
    place,
    greeting,
    exited,
    retire: () => end('retire'),
    stop: () => end('stop'),
    kill: () => void child.kill('SIGKILL'),
    inform: (now) => send(child, { type: 'workers', workers: now }),
  };
};

/** Without it, Windows opens a console for each process of a service that has none. Passed on to `spawn`. */
const hidden = { silent: false, windowsHide: true };

/** With `node:http`, workers share a port through their supervisor, as Node.js does for processes of its cluster module. */
const startProcess = (server: HttpServerFacts['server']): ChildProcess => {
  if (server === 'uws') return fork(entry, [], hidden);
  cluster.setupPrimary({ ...hidden, exec: entry, args: [] });
  return cluster.fork().process;
};

/** Waits for the worker's `ready` message. */
const waitUntilReady = (
  child: ChildProcess,
  exited: Promise<WorkerExit>,
  begin: () => void,
): Promise<Extract<FromWorker, { type: 'ready' }>> =>
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
      if (message.type === 'listening') begin();
      if (message.type !== 'ready' && message.type !== 'failed') return;
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
