import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Observable, type OperatorFunction, throwError } from 'rxjs';
import type { Limits } from '../config/schema.ts';
import { FaultError } from '../model/fault.ts';
import type { Backpressure, Pausable } from '../runtime/backpressure.ts';
import { garbled, tooMuch } from './faults.ts';
import type { UpstreamAnswer } from './upstreams.ts';
import { decompressZstd } from './zstd.ts';

/** The limit of an answer's bytes, both compressed and decompressed. */
export type DecompressLimits = Pick<Limits, 'decompressedReplyBytes'>;

/** A decompressor. */
export interface Decompressing {
  /** Limit in bytes, compressed and after each decompression. */
  readonly maxBytes: number;
  /** Pauses the output. */
  readonly backpressure: Backpressure;
  /** The compressed body, which is paused while the decompressor has more than it can take. */
  readonly source: Pausable;
}

/** The answer, decompressed and without `content-encoding`. Some upstreams compress unasked. */
export const plainAnswer = (
  answer: UpstreamAnswer,
  { decompressedReplyBytes: maxBytes }: DecompressLimits,
  { backpressure, source }: Pick<Decompressing, 'backpressure' | 'source'>,
): UpstreamAnswer => {
  if (answer.headers['content-encoding'] === undefined) return answer;
  const { 'content-encoding': encoding, ...headers } = answer.headers;
  const body = answer.body.pipe(decompress(encoding, { maxBytes, backpressure, source }));
  return { ...answer, headers, body };
};

/**
 * Decompresses a body by its `content-encoding`. Flushed data is emitted as soon as it arrives. Errors with `upstream-garbled` for
 * invalid or truncated data, an unknown encoding, and data beyond the limit. Source: RFC 9110, section 8.4.1; RFC 8878 (zstd).
 */
export const decompress = (encoding: string, how: Decompressing): OperatorFunction<Uint8Array, Uint8Array> => {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > maxCodings) return refused(`${codings.length} encodings in a row`);
  // The header lists the encodings in the order in which they were applied.
  return (source) => codings.reduceRight((bytes, coding) => bytes.pipe(decoderOf(coding, how)), source);
};

/** Servers need only one, and each costs a decompressor. */
const maxCodings = 4;

const decoderOf = (coding: string, how: Decompressing): OperatorFunction<Uint8Array, Uint8Array> => {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return through(coding, how, () => createGunzip(options));
    case 'deflate':
      return through(coding, how, ([first = 0]) =>
        hasZlibHead(first) ? createInflate(options) : createInflateRaw(options),
      );
    case 'br':
      return through(coding, how, () => createBrotliDecompress(options));
    case 'zstd':
      return decompressZstd(how.maxBytes);
    default:
      return refused(coding.slice(0, 40));
  }
};

const refused =
  (what: string): OperatorFunction<Uint8Array, Uint8Array> =>
  () =>
    throwError(
      () =>
        new FaultError({
          kind: 'upstream-garbled',
          message: `The upstream's answer has an encoding that can't be decoded: ${what}.`,
        }),
    );

/** The size of output chunks, in bytes; four times zlib's default. */
const options = { chunkSize: 65_536 };

/** `deflate` means zlib's format, but some servers omit its header. The low half of the header's first byte is 8. */
const hasZlibHead = (first: number): boolean => (first & 15) === 8;

/** Pipes the bytes through a zlib stream, created at the first chunk. An empty body stays empty. */
const through =
  (
    coding: string,
    { maxBytes, backpressure, source: compressed }: Decompressing,
    create: (first: Uint8Array) => Transform,
  ): OperatorFunction<Uint8Array, Uint8Array> =>
  (source) =>
    new Observable((subscriber) => {
      let stream: Transform | undefined;
      let read = 0;
      let written = 0;
      const output: Pausable = { pause: () => stream?.pause(), resume: () => stream?.resume() };
      const open = (first: Uint8Array): Transform => {
        const opened = create(first)
          .on('data', (chunk: Buffer) => {
            written += chunk.length;
            if (written > maxBytes) subscriber.error(tooMuch(maxBytes));
            else subscriber.next(chunk);
          })
          .on('drain', () => compressed.resume())
          .on('error', (error) => subscriber.error(garbled(coding, error)))
          .on('end', () => subscriber.complete());
        backpressure.attach(output);
        if (backpressure.paused) opened.pause();
        return opened;
      };
      subscriber.add(() => {
        backpressure.detach(output);
        stream?.destroy();
      });
      subscriber.add(
        source.subscribe({
          next(chunk) {
            read += chunk.length;
            // Input may yield no output.
            if (read > maxBytes) {
              subscriber.error(tooMuch(maxBytes));
              return;
            }
            stream ??= open(chunk);
            if (!stream.write(chunk)) compressed.pause();
          },
          error(error) {
            // Emitted after zlib's pending output: an empty write finishes after all earlier writes.
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
