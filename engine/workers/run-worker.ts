import { type Service, start } from '../start.ts';
import type { Fleet } from './fleet.ts';
import { type FromWorker, type ToWorker, toWorker } from './messages.ts';
import { processTitles } from './process-titles.ts';

/*
 * The process of one worker: it serves what its supervisor tells it to, and takes its orders from nobody else. When the
 * supervisor is gone, it ends as if the service were stopped.
 */

process.title = processTitles.worker;

type Begin = Extract<ToWorker, { type: 'begin' }>;

let service: Service | undefined;
let fleet: Fleet | undefined;
const endings = new Set<'stop' | 'retire'>();
/** Clients that wait for a restart. */
const waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];

const send = (message: FromWorker, sent: () => void = () => undefined): void => {
  if (process.connected) process.send?.(message, undefined, undefined, sent);
};

const begin = async ({ home, transformerFolders, taken, fleet: first }: Begin): Promise<void> => {
  try {
    service = await start({
      env: process.env,
      home,
      transformerFolders,
      report: (line) => process.stderr.write(`${line}\n`),
      sharing: { taken },
      supervision: { fleet: () => fleet ?? first, restart: askForRestart },
    });
  } catch (error) {
    send({ type: 'failed', message: error instanceof Error ? error.message : String(error) }, () => process.exit(1));
    return;
  }
  const { addresses, ...place } = service.place;
  const { drainMs } = service.config.timeouts;
  send({ type: 'ready', place: { ...place, addresses: [...addresses] }, drainMs });
  // What was asked of it while it started.
  for (const how of endings) end(service, how);
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

/** A worker that retires may be stopped as well; it is gone when the first of the two is done. */
const finish = (how: 'stop' | 'retire'): void => {
  if (endings.has(how)) return;
  endings.add(how);
  if (service) end(service, how);
};

const end = (running: Service, how: 'stop' | 'retire'): void => {
  running[how]().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};

process.on('message', (message) => {
  if (!toWorker.matches(message)) return;
  if (message.type === 'begin') void begin(message);
  else if (message.type === 'fleet') fleet = message.fleet;
  else if (message.type === 'restarted') settleRestart(message);
  else finish(message.type);
});
process.on('disconnect', () => finish('stop'));
process.on('SIGTERM', () => finish('stop'));
// A terminal sends it to all processes; the supervisor, who gets it too, decides.
process.on('SIGINT', () => undefined);
