import { performance } from 'node:perf_hooks';
import type { Fault } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import type { BodyClaim } from './body-budget.ts';
import { decompressBody, readCodings } from './decompress-body.ts';
import type { Rejection } from './endpoint.ts';
import type { HttpLimits } from './settings.ts';
import type { Ticker, TickListener } from './ticker.ts';
import type { UwsResponse } from './uws.ts';

/** A request whose body is to be read. */
interface BodySource {
  readonly res: UwsResponse;
  readonly headers: Headers;
  readonly limits: HttpLimits;
  readonly ticker: Ticker;
  /** The request's share of the memory for bodies. */
  readonly claim: BodyClaim;
}

/** Stops reading; `done` is not called. */
export type StopReading = () => void;

/**
 * Collects and decompresses a request's body, then calls `done` once, possibly synchronously. Must be called while the
 * request's handler runs: data arrives right after it.
 */
export const readBody = (source: BodySource, done: (result: Uint8Array | Rejection) => void): StopReading => {
  const { headers, limits, claim } = source;
  const length = Number(headers['content-length'] ?? 0);
  if (length === 0 && headers['transfer-encoding'] === undefined) {
    done(noBytes);
    return () => {};
  }
  const codings = readCodings(headers['content-encoding']);
  if ('kind' in codings) {
    done({ fault: codings, close: length > limits.bodyBytes * drainFactor });
    return () => {};
  }
  if (length > limits.bodyBytes) {
    // A body that is slightly too large is drained: a client that is still sending might miss the answer.
    done({ fault: tooLarge(limits.bodyBytes), close: length > limits.bodyBytes * drainFactor });
    return () => {};
  }
  const collector = new BodyCollector(source, (body) => {
    if (!(body instanceof Uint8Array)) done(body);
    else if (codings.length === 0 || body.length === 0) done(claim.complete(body) ?? body);
    else {
      void decompressBody(body, codings, limits, claim).then((result) =>
        done('fault' in result ? result : (claim.complete(result) ?? result)),
      );
    }
  });
  return () => collector.stop();
};

/** Bodies up to this many times the limit are drained; for larger ones the connection is closed. */
const drainFactor = 8;
const noBytes = new Uint8Array(0);

const tooLarge = (maxBytes: number): Fault => ({
  kind: 'too-large',
  message: `The request's body is larger than ${maxBytes} bytes. LIMITS.bodyBytes in the configuration sets the limit.`,
});

const tooSlow: Fault = { kind: 'request-timeout', message: "The request's body came too slowly." };

class BodyCollector implements TickListener {
  readonly #source: BodySource;
  readonly #done: (result: Uint8Array | Rejection) => void;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #windowFromMs = performance.now();
  #windowBytes = 0;
  #stopped = false;

  constructor(source: BodySource, done: (result: Uint8Array | Rejection) => void) {
    this.#source = source;
    this.#done = done;
    source.ticker.add(this);
    source.res.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  stop(): void {
    this.#stopped = true;
    this.#chunks.length = 0;
    this.#source.ticker.delete(this);
  }

  tick(nowMs: number): void {
    const { limits, res } = this.#source;
    const spentMs = nowMs - this.#windowFromMs;
    if (spentMs >= limits.bodyWindowMs) {
      if (this.#windowBytes * 1000 < limits.bodyBytesPerSecond * spentMs) {
        this.#finish({ fault: tooSlow, close: true });
        return;
      }
      this.#windowFromMs = nowMs;
      this.#windowBytes = 0;
    }
    // Resets the native timeout, which is stricter than our limit.
    res.pause();
    res.resume();
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#stopped) return;
    this.#size += chunk.byteLength;
    this.#windowBytes += chunk.byteLength;
    const { bodyBytes } = this.#source.limits;
    if (this.#size > bodyBytes) {
      this.#finish({ fault: tooLarge(bodyBytes), close: true });
      return;
    }
    const rejection = this.#source.claim.take(chunk.byteLength);
    if (rejection) {
      this.#finish(rejection);
      return;
    }
    // The native buffer is only valid during this call.
    if (chunk.byteLength > 0) this.#chunks.push(new Uint8Array(chunk.slice(0)));
    if (isLast) this.#finish(this.#joined());
  }

  #joined(): Uint8Array {
    const [first] = this.#chunks;
    return first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size);
  }

  #finish(result: Uint8Array | Rejection): void {
    this.stop();
    this.#done(result);
  }
}
