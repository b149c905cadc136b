import type { Fault } from '../model/fault.ts';
import { decompressBody, readCodings } from './decompress-body.ts';
import type { Headers } from './incoming.ts';
import type { HttpLimits } from './limits.ts';
import type { UwsResponse } from './load-uws.ts';
import type { Patience, Waiting } from './patience.ts';
import type { Refusal } from './refusal.ts';

/** What reading a body needs to know. */
export interface BodySource {
  readonly res: UwsResponse;
  readonly headers: Headers;
  readonly limits: HttpLimits;
  readonly patience: Patience;
}

/** Ends the reading, without a result. */
export type StopReading = () => void;

/**
 * Collects and decompresses a request's body, then calls `done` once. May do so before it returns. Must be called while the
 * request's handler runs: that is when data begins to come.
 */
export const readBody = (source: BodySource, done: (result: Uint8Array | Refusal) => void): StopReading => {
  const { headers, limits } = source;
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
    // The rest of a body not much too large is let through unread: a client still busy sending might miss the answer.
    done({ fault: tooLarge(limits.bodyBytes), close: length > limits.bodyBytes * drainFactor });
    return () => {};
  }
  const collecting = new Collecting(source, (body) => {
    if (!(body instanceof Uint8Array) || codings.length === 0 || body.length === 0) done(body);
    else
      void decompressBody(body, codings, limits).then((result) =>
        done('kind' in result ? { fault: result, close: false } : result),
      );
  });
  return () => collecting.stop();
};

/** How many times a body may be too large before its sender is cut off. */
const drainFactor = 8;
const noBytes = new Uint8Array(0);

const tooLarge = (maxBytes: number): Fault => ({
  kind: 'too-large',
  message: `The request's body is larger than ${maxBytes} bytes. LIMITS.bodyBytes in the configuration sets the limit.`,
});

const tooSlow: Fault = { kind: 'request-timeout', message: "The request's body came too slowly." };

class Collecting implements Waiting {
  readonly #source: BodySource;
  readonly #done: (result: Uint8Array | Refusal) => void;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #windowFromMs = Date.now();
  #windowBytes = 0;
  #stopped = false;

  constructor(source: BodySource, done: (result: Uint8Array | Refusal) => void) {
    this.#source = source;
    this.#done = done;
    source.patience.add(this);
    source.res.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  stop(): void {
    this.#stopped = true;
    this.#chunks.length = 0;
    this.#source.patience.delete(this);
  }

  wait(nowMs: number): void {
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
    // Sets back the native timer, which is stricter than our limit.
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
    // The buffer is taken back when this call returns, so it must be copied.
    if (chunk.byteLength > 0) this.#chunks.push(new Uint8Array(chunk.slice(0)));
    if (isLast) this.#finish(this.#joined());
  }

  #joined(): Uint8Array {
    const [first] = this.#chunks;
    return first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size);
  }

  #finish(result: Uint8Array | Refusal): void {
    this.stop();
    this.#done(result);
  }
}
