import { Buffer } from 'node:buffer';

/**
 * The end of a stream of records, kept as the chunks that came: some bytes at least, and the last record whole. What it costs
 * per chunk doesn't depend on the chunk's length, as long as chunks end where records do.
 */
export class StreamTail {
  readonly #leastBytes: number;
  readonly #mostBytes: number;
  readonly #overflow: (tail: StreamTail) => void;
  readonly #chunks: Uint8Array[] = [];
  #overflown = false;
  #length = 0;
  /** How many chunks have come since the newest one in which a record ends. */
  #sinceGap = Number.POSITIVE_INFINITY;
  /** What came first isn't kept any more. */
  cut = false;

  /** `mostBytes` bounds what is kept of a last record; `overflow` is told of one that is longer while it is still there. */
  constructor(leastBytes: number, mostBytes: number, overflow: (tail: StreamTail) => void = () => {}) {
    this.#leastBytes = leastBytes;
    this.#mostBytes = mostBytes;
    this.#overflow = overflow;
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#sinceGap = holdsGap(chunk) ? 0 : this.#sinceGap + 1;
    if (this.#sinceGap === 0) this.#overflown = false;
    while (this.#mayDrop()) {
      this.#length -= this.#chunks.shift()?.length ?? 0;
      this.cut = true;
    }
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  #mayDrop(): boolean {
    const left = this.#chunks.length - 1;
    if (left < 1 || this.#length - (this.#chunks[0]?.length ?? 0) < this.#leastBytes) return false;
    if (this.#sinceGap < left) return true;
    if (this.#length <= this.#mostBytes) return false;
    if (!this.#overflown) this.#overflow(this);
    this.#overflown = true;
    return true;
  }
}

/** A chunk that ends in an empty line. One whose empty line is cut in two is taken for unfinished, which does no harm. */
export const endsRecord = (chunk: Uint8Array): boolean => {
  const last = chunk.length - 1;
  return chunk[last] === lineFeed && (chunk[last - 1] === lineFeed || chunk[last - 2] === lineFeed);
};

const holdsGap = (chunk: Uint8Array): boolean => {
  if (endsRecord(chunk)) return true;
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  return bytes.lastIndexOf('\n\n') >= 0 || bytes.lastIndexOf('\n\r\n') >= 0;
};

const lineFeed = 10;
