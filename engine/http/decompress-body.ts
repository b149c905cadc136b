import * as zlib from 'node:zlib';
import type { Fault } from '../model/fault.ts';
import type { HttpLimits } from './limits.ts';
import { TooMuchData, unzstd } from './unzstd.ts';

type Decoder = (data: Uint8Array, maxBytes: number) => Promise<Uint8Array>;

/** The codings of a `content-encoding` header in the order they are to be undone; a fault for one that isn't known. */
export const readCodings = (header: string | undefined): readonly Decoder[] | Fault => {
  const names = (header ?? '').split(',').map((name) => name.trim().toLowerCase());
  const codings: Decoder[] = [];
  for (const name of names.filter((name) => name !== '' && name !== 'identity').reverse()) {
    const coding = decoders.get(name);
    if (!coding || codings.length === maxCodings) return unknownCoding(coding ? (header ?? '') : name);
    codings.push(coding);
  }
  return codings;
};

/** Undoes the codings, within the limits. A fault for broken data and for data that becomes too large. */
export const decompressBody = async (
  body: Uint8Array,
  codings: readonly Decoder[],
  limits: Pick<HttpLimits, 'inflatedBytes' | 'inflateRatio'>,
): Promise<Uint8Array | Fault> => {
  const maxBytes = Math.min(limits.inflatedBytes, Math.max(smallBytes, body.length * limits.inflateRatio));
  try {
    let data = body;
    for (const decode of codings) data = await decode(data, maxBytes);
    return data;
  } catch (error) {
    return isTooMuch(error)
      ? { kind: 'too-large', message: `The request's body is larger than ${maxBytes} bytes when decompressed.` }
      : { kind: 'invalid-request', message: "The request's body can't be decompressed: its data is broken." };
  }
};

/** The ratio of a small body is no sign of an attack: a long run of one character compresses a thousandfold. */
const smallBytes = 1024 * 1024;
const maxCodings = 4;

const unknownCoding = (name: string): Fault => ({
  kind: 'unsupported-encoding',
  message: `The body's content-encoding ${name.slice(0, 40)} is not supported: use gzip, deflate, br or zstd.`,
});

type NativeDecoder = (
  data: Uint8Array,
  options: { readonly maxOutputLength: number },
  done: (error: Error | null, result: Uint8Array) => void,
) => void;

const native =
  (decode: NativeDecoder): Decoder =>
  (data, maxOutputLength) =>
    new Promise((resolve, reject) => {
      decode(data, { maxOutputLength }, (error, result) => (error ? reject(error) : resolve(result)));
    });

const inflate = native(zlib.inflate);
const inflateRaw = native(zlib.inflateRaw);

/** `deflate` means zlib's format, but some clients send the bare data. Source: RFC 9110, "Deflate Coding". */
const deflate: Decoder = (data, maxBytes) => {
  const [first = 0, second = 0] = data;
  const hasZlibHeader = (first & 15) === 8 && (first * 256 + second) % 31 === 0;
  return (hasZlibHeader ? inflate : inflateRaw)(data, maxBytes);
};

const isNativeDecoder = (value: unknown): value is NativeDecoder => typeof value === 'function';

/** Node.js has zstd from 22.15 on, later than its type declarations here. */
const nativeZstd: unknown = Reflect.get(zlib, 'zstdDecompress');

const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', native(zlib.gunzip)],
  ['x-gzip', native(zlib.gunzip)],
  ['deflate', deflate],
  ['br', native(zlib.brotliDecompress)],
  ['zstd', isNativeDecoder(nativeZstd) ? native(nativeZstd) : async (data, maxBytes) => unzstd(data, maxBytes)],
]);

const isTooMuch = (error: unknown): boolean =>
  error instanceof TooMuchData || (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE');
