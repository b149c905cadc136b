import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { concat, concatMap, defer, EMPTY, from, map, type Observable, of, throwError, timer } from 'rxjs';
import { type Fault, FaultError } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import type { UpstreamCall, Upstreams } from './upstreams.ts';

/** A recorded upstream answer. */
export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Milliseconds from the call to the response head. */
  readonly headMs: number;
  readonly chunks: readonly {
    /** Milliseconds since the response head. */
    readonly atMs: number;
    readonly bytes: Uint8Array;
  }[];
  /** The fault that ended the answer, if any. */
  readonly fault: Fault | undefined;
}

/**
 * Upstreams that answer every call with a recording, `speed` times as fast as recorded; 0: without delays. Ignores
 * back-pressure, since recordings are small. `called` gets each call.
 */
export const playRecording = (
  { status, headers, headMs, chunks, fault }: RecordedAnswer,
  speed: number,
  called: (call: UpstreamCall) => void = () => undefined,
): Upstreams => {
  const end = fault ? throwError(() => new FaultError(fault)) : EMPTY;
  const body = defer(() => {
    const startedMs = performance.now();
    return concat(
      from(chunks).pipe(
        concatMap(({ atMs, bytes }) => {
          // All chunks use one clock, so that timer delays don't add up.
          const waitMs = speed === 0 ? 0 : startedMs + atMs / speed - performance.now();
          return delayed(waitMs, Buffer.from(bytes));
        }),
      ),
      end,
    );
  });
  return {
    call(call) {
      called(call);
      return delayed(speed === 0 ? 0 : headMs / speed, { status, headers, body, drain: () => undefined });
    },
    adjust: () => undefined,
    closeIdleSockets: () => undefined,
    poolStats: () => ({ inUse: 0, idle: 0, waiting: 0, refused: 0, resent: 0 }),
    close: async () => undefined,
  };
};

const delayed = <T>(waitMs: number, value: T): Observable<T> =>
  waitMs > 0 ? timer(waitMs).pipe(map(() => value)) : of(value);
