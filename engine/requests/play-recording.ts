import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { concat, concatMap, defer, EMPTY, from, map, type Observable, of, throwError, timer } from 'rxjs';
import { type Fault, FaultError } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import type { Upstreams } from '../upstream/call.ts';

/** An upstream's answer as it was recorded. */
export interface Recording {
  readonly status: number;
  readonly headers: Headers;
  /** From the call to the answer's head, in milliseconds. */
  readonly headMs: number;
  readonly chunks: readonly {
    /** Since the head, in milliseconds. */
    readonly atMs: number;
    readonly bytes: Uint8Array;
  }[];
  /** What the answer broke off with. */
  readonly fault: Fault | undefined;
}

/**
 * Upstreams that give a recorded answer to every call, `speed` times as fast as it came; 0: at once. What is recorded is small, so
 * a slow client holds nothing up here.
 */
export const playRecording = ({ status, headers, headMs, chunks, fault }: Recording, speed: number): Upstreams => {
  const end = fault ? throwError(() => new FaultError(fault)) : EMPTY;
  const body = defer(() => {
    const startedMs = performance.now();
    return concat(
      from(chunks).pipe(
        concatMap(({ atMs, bytes }) => {
          // By one clock for all: timers that are each a little late must not add up.
          const waitMs = speed === 0 ? 0 : startedMs + atMs / speed - performance.now();
          return later(waitMs, Buffer.from(bytes));
        }),
      ),
      end,
    );
  });
  return {
    call: () => later(speed === 0 ? 0 : headMs / speed, { status, headers, body }),
    occupancyOf: () => ({ inUse: 0, idle: 0, waiting: 0, refused: 0 }),
    close: async () => undefined,
  };
};

const later = <T>(waitMs: number, value: T): Observable<T> =>
  waitMs > 0 ? timer(waitMs).pipe(map(() => value)) : of(value);
