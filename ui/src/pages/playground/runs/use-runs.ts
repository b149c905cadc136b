import { createStore, useStore } from '../../../state/store.ts';
import { type Job, type Run, runRequest } from './run.ts';

/** The latest requests and their responses. */
export interface Runs {
  /** In the order they were sent. */
  readonly list: readonly Run[];
  readonly running: boolean;
  readonly start: (jobs: readonly Job[], capture: boolean) => void;
  readonly stop: () => void;
}

/** They go on, and stay, while other pages are shown. */
const runs = createStore<readonly Run[]>([]);
let current: AbortController | undefined;

const start: Runs['start'] = (jobs, capture) => {
  current?.abort();
  const own = new AbortController();
  current = own;
  runs.set([]);
  jobs.forEach((job, at) => {
    void runRequest({ ...job, capture, signal: own.signal }, (run) => {
      // Late updates of an aborted request must not mix with the next one's.
      if (current === own) runs.set(Object.assign([...runs.get()], { [at]: run }));
    });
  });
};

const stop = (): void => current?.abort();

/** Sends requests in parallel. */
export const useRuns = (): Runs => {
  const list = useStore(runs);
  return { list, running: list.some(({ phase }) => phase === 'waiting' || phase === 'receiving'), start, stop };
};
