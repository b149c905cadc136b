import { Decompress } from 'fzstd';
import { concat, defer, mergeMap, type OperatorFunction } from 'rxjs';
import { FaultError } from '../model/fault.ts';
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
 * zstd. Source: RFC 8878, sections 3.1.1 and 3.1.2; RFC 9659 for the window.
 */
class ZstdHeads {
  /** The incomplete header. */
  readonly #head = new Uint8Array(longestHead);
  #length = 0;
  #expects: 'frame' | 'block' = 'frame';
  /** Bytes of content until the next header. */
  #skip = 0;
  #hasChecksum = false;
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
        this.#head[this.#length] = chunk[at] ?? 0;
        this.#length += 1;
        at += 1;
        if (this.#length === this.#wanted()) {
          this.#read(new DataView(this.#head.buffer));
          this.#length = 0;
        }
      }
    }
  }

  /** The header's length, as far as known from its first bytes. */
  #wanted(): number {
    if (this.#expects === 'block') return blockHead;
    if (this.#length < 5) return 5;
    const view = new DataView(this.#head.buffer);
    if (isSkippable(view)) return 8;
    return frameHead(view.getUint8(4));
  }

  #read(view: DataView): void {
    if (this.#expects === 'block') this.#readBlock(view);
    else if (isSkippable(view)) this.#skip = view.getUint32(4, true);
    else if (view.getUint32(0, true) === zstd) this.#readFrame(view);
    else throw new RangeError('not zstd');
  }

  #readFrame(view: DataView): void {
    const descriptor = view.getUint8(4);
    this.#windowBytes = isSingleSegment(descriptor)
      ? contentSize(view, 5 + dictionaryBytes(descriptor), descriptor)
      : windowSize(view.getUint8(5));
    if (this.#windowBytes > maxWindowBytes) throw new RangeError('the window is too large');
    this.#hasChecksum = (descriptor & 4) !== 0;
    this.#expects = 'block';
  }

  #readBlock(view: DataView): void {
    const head = view.getUint16(0, true) | (view.getUint8(2) << 16);
    const isRepeatedByte = ((head >> 1) & 3) === 1;
    this.#skip = isRepeatedByte ? 1 : head >> 3;
    this.#movedBytes += this.#windowBytes;
    if (this.#movedBytes > maxMovedBytes) throw new RangeError('there are too many blocks');
    if ((head & 1) === 0) return;
    if (this.#hasChecksum) this.#skip += 4;
    this.#expects = 'frame';
  }
}

const zstd = 0xfd2fb528;
const skippable = 0x184d2a5;
const blockHead = 3;
const longestHead = 18;
/** The window that decoders of the `zstd` content coding must support. Source: RFC 9659, section 3. */
const maxWindowBytes = 8 * 1024 * 1024;
/** Per chunk; takes some hundred milliseconds. */
const maxMovedBytes = 2 * 1024 * 1024 * 1024;

const isSkippable = (view: DataView): boolean => view.getUint32(0, true) >>> 4 === skippable;

const isSingleSegment = (descriptor: number): boolean => (descriptor & 0x20) !== 0;

const dictionaryBytes = (descriptor: number): number => [0, 1, 2, 4][descriptor & 3] ?? 0;

const contentSizeBytes = (descriptor: number): number =>
  [isSingleSegment(descriptor) ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;

const frameHead = (descriptor: number): number =>
  5 + (isSingleSegment(descriptor) ? 0 : 1) + dictionaryBytes(descriptor) + contentSizeBytes(descriptor);

const contentSize = (view: DataView, at: number, descriptor: number): number => {
  switch (contentSizeBytes(descriptor)) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
};

const windowSize = (descriptor: number): number => {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
};
