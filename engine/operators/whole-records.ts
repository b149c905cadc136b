import { Buffer } from 'node:buffer';

/** Bytes of a record that are held until it is complete. A longer record passes in pieces. */
const maxHeldBytes = 1024 * 1024;

/** Cuts a stream's chunks at the ends of records: after empty lines. Lines end in LF, CRLF or CR. */
export class WholeRecords {
  readonly #maxHeld: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The stream's last two bytes so far: an empty line may be split between chunks. */
  #last = -1;
  #secondLast = -1;
  /** Part of the current record has passed, since it is too long to be held. */
  isLong = false;

  constructor(maxHeld: number = maxHeldBytes) {
    this.#maxHeld = maxHeld;
  }

  /** The bytes that may pass now: complete records, or a piece of a long one. `undefined` if there are none. */
  take(chunk: Uint8Array): Buffer | undefined {
    if (chunk.length === 0) return undefined;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const end = lastRecordEnd(bytes, this.#last);
    this.#secondLast = bytes[bytes.length - 2] ?? this.#last;
    this.#last = bytes[bytes.length - 1] ?? -1;
    if (end < 0) return this.#withoutEnd(bytes);
    const whole = this.#join(bytes.subarray(0, end));
    this.isLong = false;
    this.#held = end < bytes.length ? [bytes.subarray(end)] : [];
    this.#heldBytes = bytes.length - end;
    return whole;
  }

  /** The bytes of the incomplete record. */
  get held(): Buffer {
    return Buffer.concat(this.#held);
  }

  /** Judging by its last bytes, the long record lacks only its empty line. */
  get looksWhole(): boolean {
    return this.#last === brace || (isLineEnd(this.#last) && this.#secondLast === brace);
  }

  #withoutEnd(bytes: Buffer): Buffer | undefined {
    if (this.isLong) return bytes;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes <= this.#maxHeld) return undefined;
    const start = this.held;
    this.isLong = true;
    this.#held = [];
    this.#heldBytes = 0;
    return start;
  }

  #join(bytes: Buffer): Buffer {
    return this.#held.length === 0 ? bytes : Buffer.concat([...this.#held, bytes]);
  }
}

const lineFeed = 10;
const carriageReturn = 13;
const brace = 0x7d;

const isLineEnd = (byte: number | undefined): boolean => byte === lineFeed || byte === carriageReturn;

/** The first two bytes of an empty line: the previous line's end and its own. */
const emptyLines = ['\n\n', '\n\r', '\r\r'].map((text) => Buffer.from(text));
const plainEmptyLines = emptyLines.slice(0, 1);

const emptyLinesIn = (bytes: Buffer): readonly Buffer[] =>
  bytes.includes(carriageReturn) ? emptyLines : plainEmptyLines;

/** The offset after the empty line that begins at `at`. */
const afterEmptyLine = (bytes: Buffer, at: number): number =>
  bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed ? at + 3 : at + 2;

/** The offset after the last empty line, else -1. `before`: the byte before these. */
const lastRecordEnd = (bytes: Buffer, before: number): number => {
  let end = -1;
  for (const line of emptyLinesIn(bytes)) {
    const at = bytes.lastIndexOf(line);
    if (at >= 0) end = Math.max(end, afterEmptyLine(bytes, at));
  }
  if (end >= 0) return end;
  const [first] = bytes;
  const isEmptyLine = before === lineFeed ? isLineEnd(first) : before === carriageReturn && first === carriageReturn;
  return isEmptyLine ? afterEmptyLine(bytes, -1) : -1;
};

/** The offset after the next empty line from `from` on, else the bytes' length. */
export const nextRecord = (bytes: Buffer, from: number): number => {
  let first = -1;
  for (const line of emptyLinesIn(bytes)) {
    const at = bytes.indexOf(line, from);
    if (at >= 0 && (first < 0 || at < first)) first = at;
  }
  return first < 0 ? bytes.length : afterEmptyLine(bytes, first);
};
