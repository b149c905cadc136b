import { Buffer } from 'node:buffer';
import type { Answered, ReplyProgress } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { parseJson } from '../model/json/json.ts';
import { runWhole } from '../model/machine.ts';
import type { ClientProtocol, PassedRecords, SseRecord, StreamEnd, StreamEnds } from '../model/protocol.ts';
import { cutOff } from '../model/reply.ts';
import { RecordCutter, readSseRecords, recordEnds, recordStart } from '../model/wire/sse.ts';
import type { EndState } from './read-events.ts';

/** Bytes of a record that are held until it is complete. A longer record passes in pieces. */
const maxHeldBytes = 1024 * 1024;

/** Holds the bytes of a stream's incomplete record, up to a bound. */
export class WholeRecords {
  readonly #maxHeld: number;
  readonly #cutter = new RecordCutter();
  #held: Buffer[] = [];
  /** Part of the current record has passed, since it is too long to be held. */
  isLong = false;

  constructor(maxHeld: number = maxHeldBytes) {
    this.#maxHeld = maxHeld;
  }

  /** The bytes that may pass now: complete records, or a piece of a long one. `undefined` if there are none. */
  take(chunk: Uint8Array): Buffer | undefined {
    if (chunk.length === 0) return undefined;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const end = this.#cutter.take(bytes);
    if (end >= 0) {
      const whole = this.#join(bytes.subarray(0, end));
      this.isLong = false;
      this.#held = end < bytes.length ? [bytes.subarray(end)] : [];
      return whole;
    }
    if (this.isLong) return bytes;
    this.#held.push(bytes);
    if (this.#cutter.pendingBytes <= this.#maxHeld) return undefined;
    const { held } = this;
    this.isLong = true;
    this.#held = [];
    return held;
  }

  /** The bytes of the incomplete record. */
  get held(): Buffer {
    return Buffer.concat(this.#held);
  }

  /** The long record lacks only its empty line, as it seems. */
  get looksWhole(): boolean {
    return this.#cutter.looksWhole;
  }

  #join(bytes: Buffer): Buffer {
    return this.#held.length === 0 ? bytes : Buffer.concat([...this.#held, bytes]);
  }
}

/**
 * Forwards a stream in whole records, unchanged, up to the terminal record. An incomplete record is dropped, unless only its
 * final empty line is missing: that is added, since clients would drop the record. A finished answer without its terminal record
 * gets one.
 */
export class RecordForwarder {
  state: EndState = 'open';
  readonly #records = new WholeRecords();
  readonly #ends: StreamEnds;
  readonly #context: ReplyContext;
  readonly #progress: ReplyProgress;
  /** The long record that is passing in pieces is the terminal one. */
  #longIsTerminal = false;
  /** The record that reported the answer's failure, which the protocol's terminal error must follow. */
  #failure: SseRecord | undefined;
  readonly #faultIn: (record: SseRecord) => Fault;
  readonly #unasked: ClientProtocol['usageRecord'];
  #withheld: Buffer[] = [];
  /** What came after a failure: it passes before the terminal record. Without that, the protocol's own follows the failure at once. */
  #late: LateRecords | undefined;

  /** `faultIn` reads the fault in a record that reports a failure. */
  constructor(
    { client, context, progress, request }: Pick<Answered, 'client' | 'context' | 'progress' | 'request'>,
    faultIn: (record: SseRecord) => Fault,
  ) {
    this.#ends = client.ends;
    this.#context = context;
    this.#progress = progress;
    this.#faultIn = faultIn;
    this.#unasked = request.streamUsage === true ? undefined : client.usageRecord;
  }

  /** The records with usage that the client didn't ask for, since the last call. */
  takeWithheld(): readonly Buffer[] {
    if (this.#withheld.length === 0) return none;
    const withheld = this.#withheld;
    this.#withheld = [];
    return withheld;
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
      const [end] = recordEnds(bytes);
      return bytes.subarray(0, end);
    }
    const text = bytes.toString('latin1');
    const isPlain = !this.#failure && !this.#ends.marker.test(text) && !this.#unasked?.marker.test(text);
    return isPlain ? bytes : this.#upToEnd(bytes);
  }

  /**
   * The bytes up to and including the terminal record, or before an error of another form; all bytes if there is neither. Without
   * usage that the client didn't ask for, and what comes after a failure before there is a terminal record.
   */
  #upToEnd(bytes: Buffer): Buffer | undefined {
    const kept: Buffer[] = [];
    let start = 0;
    let from = 0;
    for (const to of recordEnds(bytes)) {
      if (this.state === 'ended') break;
      const read = this.#read(bytes.subarray(from, to));
      if (read?.meaning === 'fault') {
        this.state = 'ended';
        this.#failure = read.record;
        break;
      }
      if (this.#failure && read?.meaning !== 'end') {
        kept.push(bytes.subarray(start, from));
        this.#late ??= new LateRecords();
        this.#late.add(bytes.subarray(from, to));
        start = to;
      } else if (read && this.#unasked?.matches(read.record)) {
        kept.push(bytes.subarray(start, from));
        this.#withheld.push(bytes.subarray(from, to));
        start = to;
      } else if (read?.meaning === 'end') {
        this.state = 'ended';
        this.#failure = undefined;
        if (this.#late) {
          kept.push(bytes.subarray(start, from), ...this.#late.records);
          start = from;
        }
      } else if (read?.meaning === 'finish') {
        this.state = 'finished';
        if (this.#ends.isFailure(read.record)) this.#failure = read.record;
      }
      from = to;
    }
    const rest = bytes.subarray(start, from);
    const all = kept.length === 0 ? rest : Buffer.concat([...kept, rest]);
    return all.length > 0 ? all : undefined;
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
    if (this.state === 'ended' && !this.#failure) return undefined;
    const fault = this.#failure ? new FaultError(this.#faultIn(this.#failure)) : (error ?? new FaultError(cutOff));
    if (this.#records.isLong) {
      if (this.#longIsTerminal && this.#records.looksWhole) return emptyLine;
      throw fault;
    }
    const { held } = this.#records;
    const read = held.length > 0 ? this.#read(held) : undefined;
    const isUnasked = read !== undefined && this.#unasked?.matches(read.record) === true;
    if (isUnasked) this.#withheld.push(Buffer.concat([held, emptyLine]));
    const last = isUnasked ? undefined : read;
    const whole = last && hasWholeData(last.record) ? last : undefined;
    if (whole && (whole.meaning === 'fault' || (whole.meaning === 'finish' && this.#ends.isFailure(whole.record)))) {
      throw new FaultError(this.#faultIn(whole.record));
    }
    if (this.#failure && whole?.meaning !== 'end') throw fault;
    const isComplete =
      whole?.meaning === 'end' || (error === undefined && (whole?.meaning === 'finish' || this.state === 'finished'));
    if (!isComplete) throw fault;
    const terminal = whole?.meaning === 'end' ? '' : (this.#ends.terminal ?? '');
    if (!whole) return terminal === '' ? undefined : Buffer.from(terminal);
    return Buffer.concat([held, emptyLine, Buffer.from(terminal)]);
  }
}

/** A few records, up to a bound. */
class LateRecords {
  readonly records: Buffer[] = [];
  #bytes = 0;

  add(record: Buffer): void {
    this.#bytes += record.length;
    if (this.#bytes <= maxHeldBytes) this.records.push(record);
  }
}

const emptyLine = Buffer.from('\n\n');

const none: readonly Buffer[] = [];

const hasWholeData = ({ data }: SseRecord): boolean => data.trim() === '[DONE]' || parseJson(data) !== undefined;

/** The first and last records that passed through, as text; `undefined` if none did. */
export const passedRecords = ({ passed }: ReplyProgress): PassedRecords | undefined =>
  passed && { first: textOf(passed.first), last: textOf(passed.last) };

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();

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

  /** What it takes of memory, in bytes. */
  get size(): number {
    return this.#buffer.length;
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
    for (let records = 0; records < wholeRecords && from > 0; records += 1) from = recordStart(all, from);
    if (from > 0 || all.length <= this.#maxBytes) return Math.min(from, spare);
    this.#overflow(this);
    return spare;
  }
}

const minBuffer = 4 * 1024;
/** The last record may be followed by a `[DONE]` mark and a comment. */
const wholeRecords = 4;
