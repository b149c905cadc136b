import { Worker } from 'node:worker_threads';

/** Watches the main thread from another one: a case that never ends can't be told of by the thread that it keeps. */
interface Watchdog {
  /** A case begins. */
  readonly next: () => void;
  /** Another target's cases follow. */
  readonly stop: () => Promise<unknown>;
}

/** Ends the process with a line that says `what` when no case begins for `patienceMs`. */
export const watchdog = (what: string, patienceMs: number): Watchdog => {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads');
     let last = -1;
     setInterval(() => {
       const now = Atomics.load(workerData.shared, 0);
       if (now === last) {
         require('node:fs').writeSync(2, workerData.what + ': hangs in case ' + now + '\\n');
         process.kill(process.pid, 'SIGKILL');
       }
       last = now;
     }, workerData.patienceMs);`,
    { eval: true, execArgv: [], workerData: { shared, what, patienceMs } },
  );
  worker.unref();
  return { next: () => Atomics.add(shared, 0, 1), stop: () => worker.terminate() };
};
