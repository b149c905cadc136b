import { Buffer } from 'node:buffer';

/**
 * The end of a stream of records: some bytes at least, and the last few records whole. Copied, since chunks that were kept
 * would keep the collector busy; where records end is only looked for when room is needed.
 */
export class StreamTail {
  readonly #leastBytes: number;
  readonly #mostBytes: number;
  readonly #overflow: (tail: StreamTail) => void;
  #room = Buffer.alloc(0);
  #length = 0;
  /** What came first isn't kept any more. */
  cut = false;

  /** `mostBytes` bounds what is kept of long records; `overflow` is told of them while they are still there. */
  constructor(leastBytes: number, mostBytes: number, overflow: (tail: StreamTail) => void = () => {}) {
    this.#leastBytes = leastBytes;
    this.#mostBytes = mostBytes;
    this.#overflow = overflow;
  }

  add(chunk: Uint8Array): void {
    if (this.#length + chunk.length > this.#room.length) this.#makeRoom(chunk.length);
    this.#room.set(chunk, this.#length);
    this.#length += chunk.length;
  }

  /** Valid until more is added. */
  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }

  /** Half of the room is free afterwards, so that each byte is moved but a few times. */
  #makeRoom(bytes: number): void {
    const kept = this.#keptFrom();
    const { bytes: all } = this;
    const needed = 2 * (all.length - kept + bytes);
    const room = needed > this.#room.length ? Buffer.allocUnsafeSlow(Math.max(needed, firstRoom)) : this.#room;
    all.copy(room, 0, kept);
    this.#room = room;
    this.#length = all.length - kept;
    if (kept > 0) this.cut = true;
  }

  #keptFrom(): number {
    const { bytes: all } = this;
    const spare = all.length - this.#leastBytes;
    if (spare <= 0) return 0;
    let from = all.length;
    for (let records = 0; records < wholeRecords && from > 0; records += 1) from = gapBefore(all, from);
    if (from > 0 || all.length <= this.#mostBytes) return Math.min(from, spare);
    this.#overflow(this);
    return spare;
  }
}

const firstRoom = 4 * 1024;
/** The last one may be followed by a mark that there are no more, and by a comment. */
const wholeRecords = 4;

/** Where the last empty line that ends before this place begins; 0 when there is none. */
const gapBefore = (bytes: Buffer, place: number): number => {
  if (place < 3) return 0;
  let at = bytes.lastIndexOf(lineFeed, place - 3);
  while (at > 0 && !beginsGap(bytes, at)) at = bytes.lastIndexOf(lineFeed, at - 1);
  return Math.max(at, 0);
};

const beginsGap = (bytes: Buffer, at: number): boolean =>
  bytes[at + 1] === lineFeed || (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed);

/** A chunk that ends in an empty line. One whose empty line is cut in two is taken for unfinished, which does no harm. */
export const endsRecord = (chunk: Uint8Array): boolean => {
  const last = chunk.length - 1;
  return chunk[last] === lineFeed && (chunk[last - 1] === lineFeed || chunk[last - 2] === lineFeed);
};

const lineFeed = 10;
const carriageReturn = 13;
