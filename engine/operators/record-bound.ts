import { Buffer } from 'node:buffer';

/**
 * Counts the bytes of the stream's current, incomplete record. A record ends in an empty line; lines end in LF, CRLF or CR.
 * Searches chunks with native functions, which cost far less than a loop over bytes. Source: HTML standard, "Server-sent events".
 */
export class RecordBound {
  /** Bytes since the last empty line. */
  pendingBytes = 0;
  /** The bytes so far end in a line end; a further line end makes an empty line. */
  #afterLineEnd = false;
  /** The last byte was CR; a following LF belongs to the same line end. */
  #afterCr = false;

  add(chunk: Uint8Array): void {
    const { length } = chunk;
    // Skips the LF of a CRLF that is split between two chunks.
    const from = this.#afterCr && chunk[0] === lineFeed ? 1 : 0;
    this.#afterCr = chunk[length - 1] === carriageReturn;
    if (from === length) {
      this.pendingBytes += length;
      return;
    }
    const gap = lastGap(chunk, this.#afterLineEnd ? from : -1);
    this.pendingBytes = gap < 0 ? this.pendingBytes + length : length - gap;
    this.#afterLineEnd = isLineEnd(chunk[length - 1]);
  }
}

const lineFeed = 10;
const carriageReturn = 13;

const isLineEnd = (byte: number | undefined): boolean => byte === lineFeed || byte === carriageReturn;

const doubleLf = Buffer.from('\n\n');
/** The start of an empty line where lines end in CRLF. */
const lfCr = Buffer.from('\n\r');
const doubleCr = Buffer.from('\r\r');

/** The offset after the last empty line, else -1. `lineStart`: offset at which a line begins, else -1. */
const lastGap = (chunk: Uint8Array, lineStart: number): number => {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const hasCr = bytes.includes(carriageReturn);
  const at = Math.max(
    bytes.lastIndexOf(doubleLf),
    hasCr ? bytes.lastIndexOf(lfCr) : -1,
    hasCr ? bytes.lastIndexOf(doubleCr) : -1,
  );
  if (at >= 0) return at + 2;
  return lineStart >= 0 && isLineEnd(chunk[lineStart]) ? lineStart + 1 : -1;
};
