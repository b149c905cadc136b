import { performance } from 'node:perf_hooks';
import type { Fault } from '../model/fault.ts';
import type { BodyClaim } from './body-budget.ts';
import { type Decoder, decompressBody, readCodings } from './decompress-body.ts';
import type { Rejection } from './endpoint.ts';
import { headerValue } from './headers.ts';
import type { HttpLimits } from './settings.ts';
import type { BodyConsumer, HttpStream } from './stream.ts';
import type { Ticker, TickListener } from './ticker.ts';

/** A request whose body is to be read. */
export interface BodyReceiver {
  readonly stream: HttpStream;
  readonly limits: HttpLimits;
  readonly ticker: Ticker;
  /** The request's share of the memory for bodies. */
  readonly claim: BodyClaim;
  /** Called once, unless reading is stopped before; possibly synchronously. */
  readonly received: (result: Uint8Array | Rejection) => void;
}

/**
 * Collects and decompresses a request's body. Returns what reads it; `undefined`: the result is known already. Must be called
 * while the request's handler runs: data arrives right after it.
 */
export const readBody = (receiver: BodyReceiver): BodyReader | undefined => {
  const { stream, limits } = receiver;
  const length = Number(headerValue(stream.headers, 'content-length') ?? 0);
  if (length === 0 && headerValue(stream.headers, 'transfer-encoding') === undefined) {
    receiver.received(noBytes);
    return undefined;
  }
  const codings = codingsOf(headerValue(stream.headers, 'content-encoding'));
  // A body that is slightly too large is drained: a client that is still sending might miss the answer.
  const close = length > limits.bodyBytes * drainFactor;
  if ('kind' in codings) receiver.received({ fault: codings, close });
  else if (length > limits.bodyBytes) receiver.received({ fault: tooLarge(limits.bodyBytes), close });
  else return new BodyReader(receiver, codings);
  return undefined;
};

const codingsOf = (header: string | undefined): ReturnType<typeof readCodings> =>
  header === undefined ? noCodings : readCodings(header);

const noCodings: readonly Decoder[] = [];

/** Bodies up to this many times the limit are drained; for larger ones the connection is closed. */
const drainFactor = 8;
export const noBytes = new Uint8Array(0);

const tooLarge = (maxBytes: number): Fault => ({
  kind: 'too-large',
  message: `The request's body is larger than ${maxBytes} bytes. LIMITS.bodyBytes in the configuration sets the limit.`,
});

const tooSlow: Fault = { kind: 'request-timeout', message: "The request's body arrived too slowly." };

/** Collects one body. */
export class BodyReader implements BodyConsumer, TickListener {
  readonly #receiver: BodyReceiver;
  readonly #codings: readonly Decoder[];
  #chunks: Uint8Array[] = [];
  #size = 0;
  #windowFromMs = performance.now();
  #windowBytes = 0;
  #stopped = false;

  constructor(receiver: BodyReceiver, codings: readonly Decoder[]) {
    this.#receiver = receiver;
    this.#codings = codings;
    receiver.ticker.add(this);
    receiver.stream.read(this);
  }

  /** Stops reading. */
  stop(): void {
    this.#stopped = true;
    this.#chunks = [];
    this.#receiver.ticker.delete(this);
  }

  tick(nowMs: number): void {
    const { limits, stream } = this.#receiver;
    const spentMs = nowMs - this.#windowFromMs;
    if (spentMs >= limits.bodyWindowMs) {
      if (this.#windowBytes * 1000 < limits.bodyBytesPerSecond * spentMs) {
        this.#reject({ fault: tooSlow, close: true });
        return;
      }
      this.#windowFromMs = nowMs;
      this.#windowBytes = 0;
    }
    stream.keepOpen();
  }

  take(chunk: Uint8Array, isLast: boolean): void {
    if (this.#stopped) return;
    const { limits, claim } = this.#receiver;
    this.#size += chunk.length;
    this.#windowBytes += chunk.length;
    const rejection =
      this.#size > limits.bodyBytes ? { fault: tooLarge(limits.bodyBytes), close: true } : claim.take(chunk.length);
    if (rejection) {
      this.#reject(rejection);
      return;
    }
    if (chunk.length > 0) this.#chunks.push(chunk);
    if (isLast) this.#complete();
  }

  #reject(rejection: Rejection): void {
    this.stop();
    this.#receiver.received(rejection);
  }

  #complete(): void {
    const [first] = this.#chunks;
    const body = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size);
    this.stop();
    const { limits, claim } = this.#receiver;
    if (this.#codings.length === 0 || body.length === 0) this.#receiver.received(claim.complete(body) ?? body);
    else {
      void decompressBody(body, this.#codings, limits, claim).then((result) =>
        this.#receiver.received('fault' in result ? result : (claim.complete(result) ?? result)),
      );
    }
  }
}
