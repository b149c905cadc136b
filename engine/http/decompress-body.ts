import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { Fault } from '../model/fault.ts';
import type { Rejection } from './endpoint.ts';
import type { HttpLimits } from './settings.ts';
import { TooMuchData, unzstd } from './zstd.ts';

/** Calls `grow` with the size of each piece before keeping it; an error from `grow` ends the decoding. */
export type Decoder = (data: Uint8Array, maxBytes: number, grow: (bytes: number) => void) => Promise<Uint8Array>;

/** The share of the memory for bodies that one of them has. */
interface MemoryReservation {
  /** Takes the memory for a body of at least `bytes`; a rejection if there isn't enough. */
  readonly expect: (bytes: number) => Rejection | undefined;
}

/** Decoders for a `content-encoding` header, last coding first; a fault for an unknown coding. */
export const readCodings = (header: string): readonly Decoder[] | Fault => {
  const names = header.split(',').map((name) => name.trim().toLowerCase());
  const codings: Decoder[] = [];
  for (const name of names.filter((name) => name !== '' && name !== 'identity').reverse()) {
    const coding = decoders.get(name);
    if (!coding || codings.length === maxCodings) return unknownCoding(coding ? header : name);
    codings.push(coding);
  }
  return codings;
};

/** Decompresses a body within the limits. Rejects broken data, data that grows too large, and data beyond the memory budget. */
export const decompressBody = async (
  body: Uint8Array,
  codings: readonly Decoder[],
  limits: Pick<HttpLimits, 'decompressedBytes' | 'ratio'>,
  reservation: MemoryReservation,
): Promise<Uint8Array | Rejection> => {
  const maxBytes = Math.min(limits.decompressedBytes, Math.max(smallBytes, body.length * limits.ratio));
  try {
    return body.length < queuedBytes
      ? await undo(body, codings, maxBytes, reservation)
      : await inQueue(() => undo(body, codings, maxBytes, reservation));
  } catch (error) {
    if (error instanceof NoRoom) return error.rejection;
    const fault: Fault = isTooMuch(error)
      ? { kind: 'too-large', message: `The request's body is larger than ${maxBytes} bytes when decompressed.` }
      : { kind: 'invalid-request', message: "The request's body can't be decompressed: its data is corrupt." };
    return { fault, close: false };
  }
};

const undo = async (
  body: Uint8Array,
  codings: readonly Decoder[],
  maxBytes: number,
  reservation: MemoryReservation,
): Promise<Uint8Array> => {
  const expect = (bytes: number): void => {
    const rejection = reservation.expect(bytes);
    if (rejection) throw new NoRoom(rejection);
  };
  expect(Math.min(declaredBytes(body), maxBytes));
  let data = body;
  for (const decode of codings) {
    let bytes = 0;
    data = await decode(data, maxBytes, (more) => {
      bytes += more;
      if (bytes > maxBytes) throw new TooMuchData();
      expect(bytes);
    });
  }
  return data;
};

/** The decompressed size that a gzip trailer declares; for other data the size as sent. Source: RFC 1952, section 2.3.1. */
const declaredBytes = (body: Uint8Array): number =>
  body.length >= minGzipBytes && body[0] === 0x1f && body[1] === 0x8b
    ? new DataView(body.buffer, body.byteOffset, body.length).getUint32(body.length - 4, true)
    : body.length;

/** Size of a gzip header and trailer. */
const minGzipBytes = 18;

/** The memory budget has no room for the decompressed data. */
class NoRoom extends Error {
  override readonly name = 'NoRoom';
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.fault.message);
    this.rejection = rejection;
  }
}

/** Bodies from this compressed size on are decompressed one at a time: in parallel each could hold a part of the budget and none enough. */
const queuedBytes = 64 * 1024;
let last: Promise<unknown> = Promise.resolve();

const inQueue = <T>(work: () => Promise<T>): Promise<T> => {
  const result = last.then(work);
  last = result.catch(() => {});
  return result;
};

/** Below this size the ratio isn't checked: a long run of one character compresses a thousandfold. */
const smallBytes = 1024 * 1024;
const maxCodings = 4;

const unknownCoding = (name: string): Fault => ({
  kind: 'unsupported-encoding',
  message: `The body's content-encoding ${name.slice(0, 40)} is not supported: use gzip, deflate, br or zstd.`,
});

/** Decodes in pieces, so that data that grows too large is detected early. */
const through =
  (create: (options: zlib.ZlibOptions) => Transform): Decoder =>
  (data, _maxBytes, grow) =>
    new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      const stream = create({ chunkSize: 64 * 1024 });
      stream
        .on('data', (piece: Buffer) => {
          try {
            grow(piece.length);
            pieces.push(piece);
          } catch (error) {
            pieces.length = 0;
            stream.destroy(error instanceof Error ? error : new Error(String(error)));
          }
        })
        .on('error', reject)
        .on('end', () => resolve(Buffer.concat(pieces)))
        .end(data);
    });

const inflate = through(zlib.createInflate);
const inflateRaw = through(zlib.createInflateRaw);

/** `deflate` means the zlib format, but some clients send raw deflate data. Source: RFC 9110, "Deflate Coding". */
const deflate: Decoder = (data, maxBytes, grow) => {
  const [first = 0, second = 0] = data;
  const hasZlibHeader = (first & 15) === 8 && (first * 256 + second) % 31 === 0;
  return (hasZlibHeader ? inflate : inflateRaw)(data, maxBytes, grow);
};

const isNativeDecoder = (value: unknown): value is (options: zlib.ZlibOptions) => Transform =>
  typeof value === 'function';

/** Built into Node.js from 22.15 on; the type declarations here are older. */
const nativeZstd: unknown = Reflect.get(zlib, 'createZstdDecompress');

const ownZstd: Decoder = async (data, maxBytes, grow) => unzstd(data, maxBytes, grow);

const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', through(zlib.createGunzip)],
  ['x-gzip', through(zlib.createGunzip)],
  ['deflate', deflate],
  ['br', through(zlib.createBrotliDecompress)],
  ['zstd', isNativeDecoder(nativeZstd) ? through(nativeZstd) : ownZstd],
]);

const isTooMuch = (error: unknown): boolean => error instanceof TooMuchData;
