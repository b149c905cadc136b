import { useCallback, useEffect, useRef, useState } from 'react';
import type { Json } from '../../api/json.ts';
import type { Protocol } from '../../api/protocols.ts';
import { type Run, runRequest } from './run.ts';

/** The latest requests and their responses. */
export interface Runs {
  /** In the order they were sent. */
  readonly list: readonly Run[];
  readonly running: boolean;
  readonly start: (bodies: readonly (readonly [protocol: Protocol, body: Json])[], capture: boolean) => void;
  readonly stop: () => void;
}

/** Sends requests in parallel; leaving the page aborts them. */
export const useRuns = (): Runs => {
  const [list, setList] = useState<readonly Run[]>([]);
  const current = useRef<AbortController>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const start = useCallback<Runs['start']>((bodies, capture) => {
    current.current?.abort();
    const own = new AbortController();
    current.current = own;
    setList([]);
    bodies.forEach(([protocol, body], at) => {
      void runRequest({ protocol, body, capture, signal: own.signal }, (run) => {
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
