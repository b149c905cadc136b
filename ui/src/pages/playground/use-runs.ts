import { useCallback, useEffect, useRef, useState } from 'react';
import { type Job, type Run, runRequest } from './run.ts';

/** The latest requests and their responses. */
export interface Runs {
  /** In the order they were sent. */
  readonly list: readonly Run[];
  readonly running: boolean;
  readonly start: (jobs: readonly Job[], capture: boolean) => void;
  readonly stop: () => void;
}

/** Sends requests in parallel; leaving the page aborts them. */
export const useRuns = (): Runs => {
  const [list, setList] = useState<readonly Run[]>([]);
  const current = useRef<AbortController>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const start = useCallback<Runs['start']>((jobs, capture) => {
    current.current?.abort();
    const own = new AbortController();
    current.current = own;
    setList([]);
    jobs.forEach((job, at) => {
      void runRequest({ ...job, capture, signal: own.signal }, (run) => {
        // Late updates of an aborted request must not mix with the next one's.
        if (current.current === own) setList((before) => Object.assign([...before], { [at]: run }));
      });
    });
  }, []);
  return {
    list,
    running: list.some(({ phase }) => phase === 'waiting' || phase === 'receiving'),
    start,
    stop: useCallback(() => current.current?.abort(), []),
  };
};
