import type { Service } from '../start.ts';
import type { Worker, WorkerExit } from './worker.ts';

/** The service as this very process serves it: the quickest to start. It ends without the process, which others may need. */
export const ownWorker = (service: Service): Worker => {
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
