import cluster from 'node:cluster';
import { configFile } from '../config/read.ts';
import { messageOf } from '../model/fault.ts';
import { banner } from './banner.ts';
import { type Service, start } from './server.ts';
import { processTitles } from './workers/find-service.ts';
import { type FromWorker, type ToWorker, toWorker } from './workers/ipc-messages.ts';
import { IpcPeers } from './workers/ipc-peers.ts';
import { guardProcess, outliveOutput } from './workers/process-guards.ts';
import type { WorkerSet } from './workers/worker-set.ts';

/*
 * Entry point of a worker process. It serves as its supervisor requests. If the supervisor disappears, it stops as the
 * whole service does.
 */

process.title = processTitles.worker;

type Begin = Extract<ToWorker, { type: 'begin' }>;

outliveOutput();
// Node.js would exit at once when the supervisor disappears.
if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
const report = (line: string): void => void process.stderr.write(`${line}\n`);

let service: Service | undefined;
let workers: WorkerSet | undefined;
const requestedEnds = new Set<'stop' | 'retire'>();
/** Pending restart requests of clients. */
const waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];

const send = (message: FromWorker, sent: () => void = () => undefined): void => {
  if (process.connected) process.send?.(message, undefined, undefined, sent);
};

const peers = new IpcPeers(send);

const begin = async ({
  home,
  transformerFolders,
  keyCommands,
  taken,
  workers: first,
  machineId,
}: Begin): Promise<void> => {
  peers.nodeId = machineId;
  try {
    service = await start({
      env: process.env,
      home,
      transformerFolders,
      keyCommands,
      report,
      sharing: { taken },
      supervision: { workers: () => workers ?? first, restart: askForRestart, peers },
    });
  } catch (error) {
    send({ type: 'failed', message: messageOf(error) }, () => process.exit(1));
    return;
  }
  const { place } = service;
  const { leaveMs, drainMs } = service.config.timeouts;
  const greeting = banner({ ...service, file: configFile(home, process.env) });
  send({ type: 'ready', place, endMs: leaveMs + drainMs, greeting });
  // Requests to end that arrived during the start.
  for (const how of requestedEnds) end(service, how);
};

const askForRestart = (): Promise<void> =>
  new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    send({ type: 'restart' });
  });

const settleRestart = ({ problem }: { readonly problem?: string }): void => {
  for (const { resolve, reject } of waiting.splice(0)) {
    if (problem === undefined) resolve();
    else reject(new Error(problem));
  }
};

/** Handles a request to end. A retiring worker may also be stopped; it exits when either completes. */
const finish = (how: 'stop' | 'retire'): void => {
  if (requestedEnds.has(how)) return;
  requestedEnds.add(how);
  if (service) end(service, how);
};

/** Exits when all messages so far have been sent. */
const exit = (code: number): void => {
  if (process.connected)
    process.send?.({ type: 'metrics', families: [] }, undefined, undefined, () => process.exit(code));
  else process.exit(code);
};

const end = (running: Service, how: 'stop' | 'retire'): void => {
  running[how]().then(
    () => exit(0),
    () => exit(1),
  );
};

process.on('message', (message) => {
  if (!toWorker.matches(message)) return;
  if (message.type === 'begin') void begin(message);
  else if (message.type === 'workers') workers = message.workers;
  else if (message.type === 'restarted') settleRestart(message);
  else if (message.type === 'result' || message.type === 'question') peers.receive(message);
  else finish(message.type);
});
send({ type: 'listening' });
process.on('disconnect', () => finish('stop'));
process.on('SIGTERM', () => finish('stop'));
// The terminal sends these to all processes of the group; the supervisor acts on them.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
guardProcess({ log: () => service?.logs.app, flush: () => service?.logs.flushSync(), report });
