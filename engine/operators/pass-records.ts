import { Buffer } from 'node:buffer';
import type { Answered, ReplyProgress } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import { FaultError } from '../model/fault.ts';
import { parseJson } from '../model/json/json.ts';
import { runWhole } from '../model/machine.ts';
import type { PassedRecords, SseRecord, StreamEnd, StreamEnds } from '../model/protocol.ts';
import { cutOff } from '../model/reply.ts';
import { readSseRecords } from '../model/sse.ts';
import type { EndState } from './read-events.ts';

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
  const { length } = bytes;
  // Most chunks end with their last record.
  if (bytes[length - 1] === lineFeed && bytes[length - 2] === lineFeed) return length;
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
const nextRecord = (bytes: Buffer, from: number): number => {
  let first = -1;
  for (const line of emptyLinesIn(bytes)) {
    const at = bytes.indexOf(line, from);
    if (at >= 0 && (first < 0 || at < first)) first = at;
  }
  return first < 0 ? bytes.length : afterEmptyLine(bytes, first);
};

/**
 * Passes a stream on in whole records, unchanged, up to the terminal record. An incomplete record is dropped, unless only its
 * final empty line is missing: that is added, since clients would drop the record. A finished answer without its terminal record
 * gets one.
 */
export class RecordPasser {
  state: EndState = 'open';
  readonly #records = new WholeRecords();
  readonly #ends: StreamEnds;
  readonly #context: ReplyContext;
  readonly #progress: ReplyProgress;
  /** The long record that is passing in pieces is the terminal one. */
  #longIsTerminal = false;

  constructor({ client, context, progress }: Pick<Answered, 'client' | 'context' | 'progress'>) {
    this.#ends = client.ends;
    this.#context = context;
    this.#progress = progress;
  }

  /** The bytes that may pass now; `undefined` if there are none. */
  take(chunk: Uint8Array): Buffer | undefined {
    const wasLong = this.#records.isLong;
    const bytes = this.#records.take(chunk);
    const { isLong } = this.#records;
    this.#progress.betweenRecords = !isLong;
    if (bytes === undefined) return undefined;
    if (isLong) {
      if (!wasLong) this.#longIsTerminal = this.#read(bytes)?.meaning === 'end';
      return bytes;
    }
    if (this.#longIsTerminal) {
      this.state = 'ended';
      return bytes.subarray(0, nextRecord(bytes, 0));
    }
    return this.#ends.sign.test(bytes.toString('latin1')) ? this.#upToEnd(bytes) : bytes;
  }

  /** The bytes up to and including the terminal record; all bytes if there is none. */
  #upToEnd(bytes: Buffer): Buffer {
    let from = 0;
    while (from < bytes.length) {
      const to = nextRecord(bytes, from);
      const meaning = this.#read(bytes.subarray(from, to))?.meaning;
      if (meaning === 'end') {
        this.state = 'ended';
        return bytes.subarray(0, to);
      }
      if (meaning === 'finish') this.state = 'finished';
      from = to;
    }
    return bytes;
  }

  #read(bytes: Buffer): { readonly record: SseRecord; readonly meaning: StreamEnd | undefined } | undefined {
    const record = runWhole(readSseRecords, this.#context, [bytes]).at(-1);
    return record && { record, meaning: this.#ends.read(record) };
  }

  /**
   * The last bytes, when the upstream has closed the stream, with `error` if it broke off. Throws that error, or `upstream-cut`,
   * if the answer isn't complete.
   */
  close(error?: unknown): Buffer | undefined {
    if (this.state === 'ended') return undefined;
    const fault = error ?? new FaultError(cutOff);
    if (this.#records.isLong) {
      if (this.#longIsTerminal && this.#records.looksWhole) return emptyLine;
      throw fault;
    }
    const { held } = this.#records;
    const last = held.length > 0 ? this.#read(held) : undefined;
    const whole = last && hasWholeData(last.record) ? last : undefined;
    const isComplete =
      whole?.meaning === 'end' || (error === undefined && (whole?.meaning === 'finish' || this.state === 'finished'));
    if (!isComplete) throw fault;
    const terminal = whole?.meaning === 'end' ? '' : (this.#ends.terminal ?? '');
    if (!whole) return terminal === '' ? undefined : Buffer.from(terminal);
    return Buffer.concat([held, emptyLine, Buffer.from(terminal)]);
  }
}

const emptyLine = Buffer.from('\n\n');

const hasWholeData = ({ data }: SseRecord): boolean => data.trim() === '[DONE]' || parseJson(data) !== undefined;

/** The first and last records that passed through, as text; `undefined` if none did. */
export const passedRecords = ({ passed }: ReplyProgress): PassedRecords | undefined =>
  passed && { first: textOf(passed.first), last: textOf(passed.last) };

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
