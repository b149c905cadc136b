import { Decompress } from 'fzstd';
import { concat, defer, mergeMap, type OperatorFunction } from 'rxjs';
import { FaultError } from '../model/fault.ts';
import {
  blockHeadBytes,
  frameHeadBytes,
  frameKind,
  maxFrameHeadBytes,
  readBlockHead,
  readFrameHead,
  skippableBytes,
} from '../model/wire/zstd-heads.ts';
import { garbled, tooMuch } from './faults.ts';

/** Decompresses zstd as it arrives, at most `maxBytes` in and out. Node's zlib supports it only from 22.15 on. */
export const decompressZstd =
  (maxBytes: number): OperatorFunction<Uint8Array, Uint8Array> =>
  (source) =>
    defer(() => {
      const out: Uint8Array[] = [];
      let read = 0;
      let written = 0;
      const heads = new ZstdHeads();
      const decoder = new Decompress((chunk) => {
        written += chunk.length;
        // One chunk may expand to gigabytes, so the limit is checked inside the decoder.
        if (written > maxBytes) throw tooMuch(maxBytes);
        if (chunk.length > 0) out.push(chunk);
      });
      const push = (chunk: Uint8Array, last: boolean): readonly Uint8Array[] => {
        read += chunk.length;
        if (read > maxBytes) throw tooMuch(maxBytes);
        try {
          heads.check(chunk);
          decoder.push(chunk, last);
        } catch (error) {
          throw error instanceof FaultError ? error : garbled('zstd', error);
        }
        return out.splice(0);
      };
      return concat(
        source.pipe(mergeMap((chunk) => push(chunk, false))),
        defer(() => push(new Uint8Array(), true)),
      );
    });

/**
 * Checks the headers of zstd frames and blocks before the decoder reads them. fzstd allocates a frame's whole window at its
 * header and moves the whole window for each block. Throws a `RangeError` if either would cost too much, and for data that isn't
 * zstd.
 */
class ZstdHeads {
  /** The incomplete header. */
  readonly #head = new DataView(new ArrayBuffer(maxFrameHeadBytes));
  #length = 0;
  #expects: 'frame' | 'block' = 'frame';
  /** Bytes of content until the next header. */
  #skip = 0;
  #checksumBytes = 0;
  #windowBytes = 0;
  #movedBytes = 0;

  check(chunk: Uint8Array): void {
    this.#movedBytes = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else {
        this.#head.setUint8(this.#length, chunk[at] ?? 0);
        this.#length += 1;
        at += 1;
        if (this.#length === this.#wanted()) {
          this.#read();
          this.#length = 0;
        }
      }
    }
  }

  /** The header's length, as far as known from its first bytes. */
  #wanted(): number {
    if (this.#expects === 'block') return blockHeadBytes;
    if (this.#length < 5) return 5;
    return frameKind(this.#head, 0) === 'skippable' ? 8 : frameHeadBytes(this.#head.getUint8(4));
  }

  #read(): void {
    if (this.#expects === 'block') this.#readBlock();
    else if (frameKind(this.#head, 0) === 'skippable') this.#skip = skippableBytes(this.#head, 0);
    else this.#readFrame();
  }

  #readFrame(): void {
    const { windowBytes, checksumBytes } = readFrameHead(this.#head, 0);
    if (windowBytes > maxWindowBytes) throw new RangeError('the window is too large');
    this.#windowBytes = windowBytes;
    this.#checksumBytes = checksumBytes;
    this.#expects = 'block';
  }

  #readBlock(): void {
    const { bytes, isLast } = readBlockHead(this.#head, 0);
    this.#skip = bytes;
    this.#movedBytes += this.#windowBytes;
    if (this.#movedBytes > maxMovedBytes) throw new RangeError('there are too many blocks');
    if (!isLast) return;
    this.#skip += this.#checksumBytes;
    this.#expects = 'frame';
  }
}

/** The window that decoders of the `zstd` content coding must support. Source: RFC 9659, section 3. */
const maxWindowBytes = 8 * 1024 * 1024;
/** Per chunk; takes some hundred milliseconds. */
const maxMovedBytes = 2 * 1024 * 1024 * 1024;
