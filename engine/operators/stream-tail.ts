import { Buffer } from 'node:buffer';

/**
 * Keeps the end of a stream of records: a minimum of bytes and the last few records whole. Copies chunks, since retained ones
 * would burden the garbage collector. Looks for record ends only when the buffer is full.
 */
export class StreamTail {
  readonly #minBytes: number;
  readonly #maxBytes: number;
  readonly #overflow: (tail: StreamTail) => void;
  #buffer = Buffer.alloc(0);
  #length = 0;
  /** The start of the stream was dropped. */
  cut = false;

  /** `maxBytes` bounds what is kept of long records; `overflow` is called before one of them is cut. */
  constructor(minBytes: number, maxBytes: number, overflow: (tail: StreamTail) => void = () => {}) {
    this.#minBytes = minBytes;
    this.#maxBytes = maxBytes;
    this.#overflow = overflow;
  }

  add(chunk: Uint8Array): void {
    if (this.#length + chunk.length > this.#buffer.length) this.#makeSpace(chunk.length);
    this.#buffer.set(chunk, this.#length);
    this.#length += chunk.length;
  }

  /** The kept bytes. Valid until the next `add`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Leaves half of the buffer free, so that each byte is moved only a few times. */
  #makeSpace(bytes: number): void {
    const kept = this.#keptFrom();
    const { bytes: all } = this;
    const needed = 2 * (all.length - kept + bytes);
    const buffer = needed > this.#buffer.length ? Buffer.allocUnsafeSlow(Math.max(needed, minBuffer)) : this.#buffer;
    all.copy(buffer, 0, kept);
    this.#buffer = buffer;
    this.#length = all.length - kept;
    if (kept > 0) this.cut = true;
  }

  #keptFrom(): number {
    const { bytes: all } = this;
    const spare = all.length - this.#minBytes;
    if (spare <= 0) return 0;
    let from = all.length;
    for (let records = 0; records < wholeRecords && from > 0; records += 1) from = gapBefore(all, from);
    if (from > 0 || all.length <= this.#maxBytes) return Math.min(from, spare);
    this.#overflow(this);
    return spare;
  }
}

const minBuffer = 4 * 1024;
/** The last record may be followed by a `[DONE]` mark and a comment. */
const wholeRecords = 4;

/** The offset of the last empty line that ends before `offset`; 0 if there is none. */
const gapBefore = (bytes: Buffer, offset: number): number => {
  if (offset < 3) return 0;
  let at = bytes.lastIndexOf(lineFeed, offset - 3);
  while (at > 0 && !beginsGap(bytes, at)) at = bytes.lastIndexOf(lineFeed, at - 1);
  return Math.max(at, 0);
};

const beginsGap = (bytes: Buffer, at: number): boolean =>
  bytes[at + 1] === lineFeed || (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed);

const lineFeed = 10;
const carriageReturn = 13;
