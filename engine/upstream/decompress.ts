import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Decompress as ZstdDecompress } from 'fzstd';
import { concat, defer, mergeMap, Observable, type OperatorFunction } from 'rxjs';
import { FaultError } from '../model/fault.ts';

/**
 * Undoes a body's `content-encoding`, for upstreams that compress though they aren't asked to. What an upstream flushed
 * comes out as soon as it has come in. Errors with an `upstream-garbled` fault for bytes that aren't so encoded or end too
 * early, and for an encoding that is unknown. Source: RFC 9110, section 8.4.1; RFC 8878 (zstd).
 */
export const decompress =
  (encoding: string): OperatorFunction<Uint8Array, Uint8Array> =>
  (source) =>
    encoding
      .toLowerCase()
      .split(',')
      .map((coding) => coding.trim())
      .filter((coding) => coding !== '' && coding !== 'identity')
      // Listed in the order in which they were applied.
      .reduceRight((bytes, coding) => bytes.pipe(undo(coding)), source);

const undo = (coding: string): OperatorFunction<Uint8Array, Uint8Array> => {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return through(coding, () => createGunzip(options));
    case 'deflate':
      return through(coding, ([first = 0]) =>
        hasZlibHead(first) ? createInflate(options) : createInflateRaw(options),
      );
    case 'br':
      return through(coding, () => createBrotliDecompress(options));
    case 'zstd':
      return unzstd;
    default:
      throw new FaultError({
        kind: 'upstream-garbled',
        message: `The upstream sent its answer in an encoding that can't be read: ${coding}.`,
      });
  }
};

/** The size of a piece that comes out, in bytes; zlib's own is a fourth of it. */
const options = { chunkSize: 65_536 };

/** `deflate` means zlib's format, but some servers leave its head away. The low half of its first byte is always 8. */
const hasZlibHead = (first: number): boolean => (first & 15) === 8;

/** Runs the bytes through a stream of zlib's, which is made from the first chunk. An empty body stays empty. */
const through =
  (coding: string, create: (first: Uint8Array) => Transform): OperatorFunction<Uint8Array, Uint8Array> =>
  (source) =>
    new Observable((subscriber) => {
      let stream: Transform | undefined;
      const open = (first: Uint8Array): Transform =>
        create(first)
          .on('data', (chunk: Buffer) => subscriber.next(chunk))
          .on('error', (error) => subscriber.error(garbled(coding, error)))
          .on('end', () => subscriber.complete());
      subscriber.add(() => stream?.destroy());
      subscriber.add(
        source.subscribe({
          next(chunk) {
            stream ??= open(chunk);
            stream.write(chunk);
          },
          error(error) {
            // Behind what zlib still holds: an empty write is done when all writes before it are.
            if (stream) stream.write(new Uint8Array(), () => subscriber.error(error));
            else subscriber.error(error);
          },
          complete() {
            if (stream) stream.end();
            else subscriber.complete();
          },
        }),
      );
    });

/** zlib has zstd from Node.js 22.15 on alone. */
const unzstd: OperatorFunction<Uint8Array, Uint8Array> = (source) =>
  defer(() => {
    const out: Uint8Array[] = [];
    const decoder = new ZstdDecompress((chunk) => {
      if (chunk.length > 0) out.push(chunk);
    });
    const push = (chunk: Uint8Array, last: boolean): readonly Uint8Array[] => {
      try {
        decoder.push(chunk, last);
      } catch (error) {
        throw garbled('zstd', error);
      }
      return out.splice(0);
    };
    return concat(
      source.pipe(mergeMap((chunk) => push(chunk, false))),
      defer(() => push(new Uint8Array(), true)),
    );
  });

const garbled = (coding: string, cause: unknown): FaultError =>
  new FaultError({ kind: 'upstream-garbled', message: `The upstream's answer is no valid ${coding}.` }, { cause });
