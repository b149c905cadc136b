/** Lines of ended requests, as bytes, which cost the garbage collector nothing. */
interface Block {
  readonly bytes: Buffer;
  used: number;
  /** Of each line: the request's number, and where the line ends. */
  readonly numbers: number[];
  readonly ends: number[];
}

/** Lines of a block that aren't on disk yet. */
interface Unwritten {
  /** Grows from piece to piece. */
  readonly n: number;
  readonly block: Block;
  readonly from: number;
  to: number;
  lines: number;
}

/** Lines to write; at most a block. The same number has the same lines. */
interface LinesToWrite {
  readonly n: number;
  readonly bytes: Uint8Array;
}

const lineFeed = 0x0a;

const blockBytes = 262_144;

/** Blocks that are kept for readers: 4 MiB. */
const maxBlocks = 16;

/** Number of requests kept in memory. */
export const maxSummaries = 1_000;

/** Lines that wait to be written; further ones aren't written. */
const maxUnwritten = 5_000;

/** The lines of the newest requests of this process, and those that aren't on disk yet. */
export class PendingLines {
  #blocks: Block[] = [];
  #kept = 0;
  #pieces: Unwritten[] = [];
  #pieceCount = 0;
  /** The piece that `next` returned last: no line is added to it. */
  #taken: Unwritten | undefined;
  #unwritten = 0;
  #lost = 0;
  /** Called with each line while a whole block waits: a batch that is large enough to be cheap, and small enough to be written soon. */
  onBlockWaits: () => void = () => undefined;

  /** Number of lines that aren't on disk yet. */
  get unwritten(): number {
    return this.#unwritten;
  }

  /** Whether a line came that won't be written, since too many wait. */
  get isOverfull(): boolean {
    return this.#lost > 0;
  }

  /** Number of lines dropped since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  /** Adds the line of request number `n`. Numbers don't fall. */
  add(n: number, line: string): void {
    const block = this.#roomFor(line);
    const from = block.used;
    block.used += block.bytes.write(line, from);
    block.bytes[block.used] = lineFeed;
    block.used += 1;
    block.numbers.push(n);
    block.ends.push(block.used);
    this.#kept += 1;
    this.#forget();
    this.#await(block, from);
    if (this.#pieces.length > 1) this.onBlockWaits();
  }

  /** The lines in memory, newest first, of requests with a number above `after`. */
  *newest(after = 0): Generator<string> {
    let left = maxSummaries;
    for (const { bytes, numbers, ends } of this.#blocks.toReversed()) {
      for (let at = ends.length - 1; at >= 0 && left > 0; at -= 1) {
        if ((numbers[at] ?? 0) <= after) return;
        left -= 1;
        yield bytes.toString('utf8', ends[at - 1] ?? 0, ends[at]);
      }
    }
  }

  /** Forgets what readers see; what isn't on disk yet stays to be written. */
  clear(): void {
    this.#blocks = [];
    this.#kept = 0;
  }

  /** The last piece of lines so far; it may still grow. 0: there was none. */
  get lastPiece(): number {
    return this.#pieceCount;
  }

  /** The oldest lines that aren't on disk, of pieces up to this one; `undefined`: there are none. */
  next(lastPiece: number): LinesToWrite | undefined {
    const [piece] = this.#pieces;
    if (!piece || piece.n > lastPiece) return undefined;
    this.#taken = piece;
    const { n, block, from, to } = piece;
    return { n, bytes: block.bytes.subarray(from, to) };
  }

  /** What `next` returned last is on disk. */
  written({ n }: LinesToWrite): void {
    const [piece] = this.#pieces;
    // It may have been discarded meanwhile.
    if (piece?.n !== n) return;
    this.#unwritten -= piece.lines;
    this.#pieces.shift();
  }

  /** Drops what isn't on disk. */
  discard(): void {
    this.#pieces = [];
    this.#unwritten = 0;
  }

  #roomFor(line: string): Block {
    const most = 3 * line.length + 1;
    const last = this.#blocks.at(-1);
    if (last && last.bytes.length - last.used >= most) return last;
    // Shared with the thread that writes them, which needs no copy.
    const bytes = Buffer.from(new SharedArrayBuffer(Math.max(blockBytes, most)));
    const block = { bytes, used: 0, numbers: [], ends: [] };
    this.#blocks.push(block);
    return block;
  }

  #forget(): void {
    const [oldest] = this.#blocks;
    if (!oldest || (this.#kept - oldest.ends.length < maxSummaries && this.#blocks.length <= maxBlocks)) return;
    this.#blocks.shift();
    this.#kept -= oldest.ends.length;
  }

  #await(block: Block, from: number): void {
    if (this.#unwritten >= maxUnwritten) {
      this.#lost += 1;
      return;
    }
    this.#unwritten += 1;
    const last = this.#pieces.at(-1);
    if (last?.block === block && last.to === from && last !== this.#taken) {
      last.to = block.used;
      last.lines += 1;
      return;
    }
    this.#pieceCount += 1;
    this.#pieces.push({ n: this.#pieceCount, block, from, to: block.used, lines: 1 });
  }
}
