import { mergeMap, type Subscription, tap } from 'rxjs';
import { type Fault, FaultError } from '../../../engine/model/fault.ts';
import { Backpressure } from '../../../engine/runtime/backpressure.ts';
import { createUpstreams, type UpstreamOptions } from '../../../engine/upstream/create-upstreams.ts';
import type { CallSocket, UpstreamAnswer, UpstreamCall, Upstreams } from '../../../engine/upstream/upstreams.ts';
import { responsesUpstreamSocket } from '../../../protocols/responses/socket/upstream-socket.ts';

/** Upstreams with limits that no test reaches: what waits for one waits until the runner ends it. */
export const testUpstreams = (options: Partial<UpstreamOptions> = {}): Upstreams =>
  createUpstreams({
    connectMs: 600_000,
    firstByteMs: 600_000,
    idleMs: 600_000,
    callMs: 0,
    connectionsPerProvider: Number.POSITIVE_INFINITY,
    queuePerProvider: Number.POSITIVE_INFINITY,
    queueMs: 600_000,
    decompressedReplyBytes: 1 << 20,
    environment: {},
    ...options,
  });

/** A small call of `base`. */
export const callOf = (base: string, over: Partial<UpstreamCall> = {}): UpstreamCall => ({
  url: new URL('/v1/messages?beta=true', base),
  headers: { 'content-type': 'application/json', 'x-api-key': 'canary' },
  body: '{"model":"m"}',
  backpressure: new Backpressure(),
  ...over,
});

/** For a call of this conversation that may go over a WebSocket. */
export const overSocket = (
  conversation: string,
  incomplete: CallSocket['incomplete'] = () => undefined,
): CallSocket => ({
  protocol: responsesUpstreamSocket,
  conversation,
  incomplete,
});

/** What came of a call, read to its end. */
interface Outcome {
  readonly answer: UpstreamAnswer | undefined;
  readonly chunks: readonly Uint8Array[];
  readonly bytes: Buffer;
  readonly fault: Fault | undefined;
  readonly error: unknown;
}

/** Makes the call and reads its body as it comes. */
export const read = (upstreams: Upstreams, call: UpstreamCall): Promise<Outcome> => start(upstreams, call).outcome;

/** A call that goes on beside the test. */
export const start = (
  upstreams: Upstreams,
  call: UpstreamCall,
  /** Called with each chunk, with the number of chunks so far. */
  received?: (count: number) => void,
): {
  readonly outcome: Promise<Outcome>;
  readonly chunks: readonly Uint8Array[];
  readonly subscription: Subscription;
} => {
  const chunks: Uint8Array[] = [];
  let answer: UpstreamAnswer | undefined;
  let subscription: Subscription | undefined;
  const outcome = new Promise<Outcome>((resolve) => {
    const finish = (error?: unknown) => {
      const fault = error instanceof FaultError ? error.fault : undefined;
      resolve({ answer, chunks, bytes: Buffer.concat(chunks), fault, error });
    };
    subscription = upstreams
      .call(call)
      .pipe(
        tap((head) => {
          answer = head;
        }),
        mergeMap((head) => head.body),
      )
      .subscribe({
        next: (chunk) => {
          chunks.push(chunk);
          received?.(chunks.length);
        },
        error: finish,
        complete: () => finish(),
      });
  });
  if (!subscription) throw new Error('nothing was subscribed');
  return { outcome, chunks, subscription };
};
