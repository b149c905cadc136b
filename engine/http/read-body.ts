import { Buffer } from 'node:buffer';
import type { Fault } from '../model/fault.ts';
import { countNodes } from '../model/json/count-nodes.ts';
import type { MemoryReservation } from '../runtime/memory-budget.ts';
import { type Decoder, decompressBody, readCodings } from './decompress-body.ts';
import type { BodyUse, Rejection } from './endpoint.ts';
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
  readonly reservation: BodyReservation;
  /** Its endpoint reserves the memory for the values that it parses. */
  readonly reservesValues: boolean;
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

/** Bodies up to this announced length get their memory with the first chunk. */
const firstRoom = 1 << 20;

const emptyBuffer = Buffer.alloc(0);

/** Collects one body. */
export class BodyReader implements BodyConsumer, TickListener {
  before: TickListener | undefined;
  after: TickListener | undefined;
  readonly #receiver: BodyReceiver;
  readonly #codings: readonly Decoder[];
  /** The announced length in bytes; 0 if there is none. */
  readonly #announced: number;
  /** The bytes so far, and room for more. */
  #bytes: Buffer = emptyBuffer;
  #size = 0;
  #windowFromMs: number;
  #windowBytes = 0;
  #stopped = false;

  constructor(receiver: BodyReceiver, codings: readonly Decoder[]) {
    this.#receiver = receiver;
    this.#codings = codings;
    this.#announced = Number(headerValue(receiver.stream.headers, 'content-length') ?? 0);
    this.#windowFromMs = receiver.ticker.nowMs();
    receiver.ticker.add(this);
    receiver.stream.read(this);
  }

  /** Stops reading. */
  stop(): void {
    this.#stopped = true;
    this.#bytes = emptyBuffer;
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
    const { limits, reservation } = this.#receiver;
    this.#size += chunk.length;
    this.#windowBytes += chunk.length;
    const rejection =
      this.#size > limits.bodyBytes
        ? { fault: tooLarge(limits.bodyBytes), close: true }
        : reservation.take(chunk.length);
    if (rejection) {
      this.#reject(rejection);
      return;
    }
    if (chunk.length > 0) this.#keep(chunk);
    if (isLast) this.#complete();
  }

  lost(why: string): void {
    if (!this.#stopped) this.#reject({ fault: { kind: 'invalid-request', message: why }, close: true });
  }

  /** Copies a chunk. The memory grows with what has arrived: an announced length alone takes none. */
  #keep(chunk: Uint8Array): void {
    const before = this.#size - chunk.length;
    if (before === 0 && chunk.length >= this.#announced) {
      // Small bodies share a pool.
      this.#bytes = Buffer.from(chunk);
      return;
    }
    if (this.#bytes.length < this.#size) {
      const room = this.#announced >= this.#size ? this.#announced : 2 * this.#size;
      const grown = Buffer.allocUnsafeSlow(Math.min(room, Math.max(firstRoom, 4 * this.#size)));
      this.#bytes.copy(grown, 0, 0, before);
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, before);
  }

  #reject(rejection: Rejection): void {
    this.stop();
    this.#receiver.received(rejection);
  }

  #complete(): void {
    const body = this.#size === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#size);
    this.stop();
    const { limits, reservation } = this.#receiver;
    if (this.#codings.length === 0 || body.length === 0) this.#received(body);
    else {
      void decompressBody(body, this.#codings, limits, reservation).then((result) =>
        'fault' in result ? this.#receiver.received(result) : this.#received(result),
      );
    }
  }

  #received(body: Uint8Array): void {
    const { reservation, reservesValues } = this.#receiver;
    const rejection = reservation.complete(body);
    const fault = rejection || reservesValues ? undefined : reservation.takeValues(countNodes(body));
    this.#receiver.received(rejection ?? (fault ? { fault, close: true } : body));
  }
}

/** Memory per byte of an active body: bytes, text, parsed values, and the upstream's request. */
const copiesOfSmall = 4;
/**
 * Memory per byte of a large body: garbage of its conversion isn't collected before the next one needs memory. Measured with
 * 58 MiB: 6.1 per byte when relayed, 7.4 when converted.
 */
const copiesOfLarge = 8;
const largeBytes = 1024 * 1024;
/** Memory of a parsed array or object beside its text, in bytes: an empty object takes 64, an empty array 40. */
const nodeBytes = 64;

const copiesOf = (bytes: number): number => (bytes < largeBytes ? copiesOfSmall : copiesOfLarge);

/**
 * One request's share of the memory for the bodies of all active requests: many large ones can't exhaust memory. A body counts in
 * full until its answer has begun, and once its size after that: the answer's conversion may read the values parsed from it.
 */
export class BodyReservation {
  readonly #reservation: MemoryReservation;
  /** Memory for the complete body and its values, in bytes. */
  #conversionBytes = 0;
  #bodyBytes = 0;
  #hasValues = false;

  constructor(reservation: MemoryReservation) {
    this.#reservation = reservation;
  }

  /** Takes further bytes; a rejection when the budget is exhausted or the request is over. */
  take(bytes: number): Rejection | undefined {
    const refusal = this.#reservation.take(bytes);
    if (refusal === undefined) return undefined;
    return {
      fault: refusal === 'exhausted' ? bodiesExhausted : exceedsMemory(this.#reservation.maxBytes),
      close: true,
    };
  }

  /** Takes the memory for a body of at least `bytes` once decompressed, so that a body that doesn't fit is rejected early. */
  expect(bytes: number): Rejection | undefined {
    return this.take(Math.max(0, bytes * copiesOf(bytes) - this.#reservation.bytes));
  }

  /** Replaces what was taken so far with what the complete body needs, but for the values in it. */
  complete(body: Uint8Array): Rejection | undefined {
    this.#reservation.set(0);
    this.#bodyBytes = body.length;
    this.#conversionBytes = body.length * copiesOf(body.length);
    return this.take(this.#conversionBytes);
  }

  /** Takes the memory for the body's values, which have so many arrays and objects; the fault if there is none. Once per body. */
  takeValues(nodes: number): Fault | undefined {
    if (this.#hasValues) return undefined;
    this.#hasValues = true;
    this.#conversionBytes += nodes * nodeBytes;
    return this.take(nodes * nodeBytes)?.fault;
  }

  /** Changes what the complete body counts for. Always granted: a retry that converts it again belongs to an admitted request. */
  countAs(use: BodyUse): void {
    this.#reservation.set(this.#needed(use));
  }

  /** Returns everything, for good. */
  release(): void {
    this.#reservation.release();
  }

  #needed(use: BodyUse): number {
    switch (use) {
      case 'conversion':
        return this.#conversionBytes;
      case 'values':
        return this.#bodyBytes;
      case 'none':
        return 0;
      default:
        return use satisfies never;
    }
  }
}

/** There is no memory for a body now. */
export const bodiesExhausted: Fault = {
  kind: 'unavailable',
  message:
    'The bodies of active requests use all the memory for request bodies. LIMITS.bodiesBytes in the configuration sets the limit.',
  headers: { 'retry-after': '1' },
};

/** The body can never fit: retrying is useless. */
const exceedsMemory = (maxBytes: number): Fault => ({
  kind: 'too-large',
  message: `The request's body needs more than the ${maxBytes} bytes of memory for all request bodies. LIMITS.bodiesBytes in the configuration sets the limit.`,
});
