import { mergeMap, type Subscription, tap } from 'rxjs';
import { Flow } from '../../../engine/flow.ts';
import { type Fault, FaultError } from '../../../engine/model/fault.ts';
import type { Answer, UpstreamCall, Upstreams } from '../../../engine/upstream/call.ts';
import { createUpstreams, type UpstreamOptions } from '../../../engine/upstream/create-upstreams.ts';

/** Upstreams with limits short enough for tests. */
export const testUpstreams = (options: Partial<UpstreamOptions> = {}): Upstreams =>
  createUpstreams({
    connectMs: 5000,
    firstByteMs: 30_000,
    idleMs: 30_000,
    connections: Number.POSITIVE_INFINITY,
    queue: Number.POSITIVE_INFINITY,
    queueMs: 30_000,
    environment: {},
    ...options,
  });

/** A small call of `base`. */
export const callOf = (base: string, over: Partial<UpstreamCall> = {}): UpstreamCall => ({
  url: new URL('/v1/messages?beta=true', base),
  headers: { 'content-type': 'application/json', 'x-api-key': 'canary' },
  body: '{"model":"m"}',
  flow: new Flow(),
  ...over,
});

/** What came of a call, read to its end. */
export interface Outcome {
  readonly answer: Answer | undefined;
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
): {
  readonly outcome: Promise<Outcome>;
  readonly chunks: readonly Uint8Array[];
  readonly subscription: Subscription;
} => {
  const chunks: Uint8Array[] = [];
  let answer: Answer | undefined;
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
      .subscribe({ next: (chunk) => chunks.push(chunk), error: finish, complete: () => finish() });
  });
  if (!subscription) throw new Error('nothing was subscribed');
  return { outcome, chunks, subscription };
};

/** Waits until a condition holds; gives the time it took in milliseconds. */
export const until = async (condition: () => boolean, limitMs = 5000): Promise<number> => {
  const from = performance.now();
  while (!condition()) {
    if (performance.now() - from > limitMs) throw new Error(`not within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return performance.now() - from;
};
