import { Buffer } from 'node:buffer';
import type { Answered, ReplyProgress } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import type { Usage } from '../model/event.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import { runWhole } from '../model/machine.ts';
import type {
  ClientProtocol,
  PassedRecords,
  SseRecord,
  StreamEnd,
  StreamEnds,
  UpstreamProtocol,
} from '../model/protocol.ts';
import { cutOff } from '../model/reply.ts';
import { type RecordCutter, readSseRecords, recordEnds } from '../model/wire/sse.ts';
import { addUsage, type EndState, maxReadBytes } from './read-events.ts';

/** Bytes of a record that are held until it is complete. A longer record passes in pieces. */
const maxHeldBytes = 1024 * 1024;

/** Holds the bytes of a stream's incomplete record, up to a bound. */
export class WholeRecords {
  readonly #cutter: RecordCutter;
  readonly #maxHeld: number;
  #held: Buffer[] = [];
  /** Part of the current record has passed, since it is too long to be held. */
  isLong = false;

  /** `cutter` has taken what `take` gets, as far as there are records in it. */
  constructor(cutter: RecordCutter, maxHeld: number = maxHeldBytes) {
    this.#cutter = cutter;
    this.#maxHeld = maxHeld;
  }

  /** The bytes that may pass now: complete records, or a piece of a long one. `undefined` if there are none. */
  take(bytes: Buffer): Buffer | undefined {
    if (bytes.length === 0) return undefined;
    const end = this.#cutter.endIn(bytes);
    if (end >= 0) {
      this.isLong = false;
      const whole = this.#join(end < bytes.length ? bytes.subarray(0, end) : bytes);
      if (end < bytes.length) this.#held.push(bytes.subarray(end));
      return whole;
    }
    if (this.isLong) return bytes;
    this.#held.push(bytes);
    if (this.#cutter.pendingBytes <= this.#maxHeld) return undefined;
    this.isLong = true;
    return this.takeHeld();
  }

  /** The bytes of the incomplete record. */
  takeHeld(): Buffer {
    return this.#join(noBytes);
  }

  /** What is held and these bytes. Nothing is held then. */
  #join(bytes: Buffer): Buffer {
    if (this.#held.length === 0) return bytes;
    const all = Buffer.concat([...this.#held, bytes]);
    this.#held = [];
    return all;
  }
}

/**
 * Forwards a stream in whole records, unchanged, up to the terminal record, and sums up its usage. An incomplete record is dropped,
 * unless only its final empty line is missing: that is added, since clients would drop the record. A finished answer without its
 * terminal record gets one.
 */
export class RecordForwarder {
  state: EndState = 'open';
  /** What the records so far report. */
  usage: Usage = {};
  readonly #cutter: RecordCutter;
  readonly #records: WholeRecords;
  readonly #ends: StreamEnds;
  readonly #upstream: UpstreamProtocol;
  readonly #context: ReplyContext;
  readonly #progress: ReplyProgress;
  /** A record has been read. The first always is: it may have what counts for the cost. */
  #begun = false;
  /** What has passed of a long record; empty if it is too long to be read. `boundReply` counts its bytes until it ends. */
  #long: Buffer[] | undefined;
  /** The long record is the terminal one. */
  #longIsTerminal = false;
  /** The record that reported the answer's failure, which the protocol's terminal error must follow. */
  #failure: SseRecord | undefined;
  readonly #faultIn: (record: SseRecord) => Fault;
  /** Recognizes the usage that the client didn't ask for. */
  readonly #isUnasked: ClientProtocol['isUsageRecord'];
  /** What came after a failure: it passes before the terminal record. Without that, the protocol's own follows the failure at once. */
  #late: LateRecords | undefined;

  /** `faultIn` reads the fault in a record that reports a failure. */
  constructor(
    { client, context, progress, request, plan }: Answered,
    cutter: RecordCutter,
    faultIn: (record: SseRecord) => Fault,
  ) {
    this.#cutter = cutter;
    this.#records = new WholeRecords(cutter);
    this.#ends = client.ends;
    this.#upstream = plan.upstream;
    this.#context = context;
    this.#progress = progress;
    this.#faultIn = faultIn;
    this.#isUnasked = request.streamUsage === true ? undefined : client.isUsageRecord;
  }

  /** The bytes that may pass now; `undefined` if there are none. */
  take(chunk: Buffer): Buffer | undefined {
    const bytes = this.#records.take(chunk);
    const { isLong } = this.#records;
    this.#progress.betweenRecords = !isLong;
    if (bytes === undefined) return undefined;
    if (isLong) {
      if (!this.#long) this.#longIsTerminal = this.#read(bytes)?.meaning === 'end';
      this.#long ??= [];
      if (this.#cutter.pendingBytes <= maxReadBytes) this.#long.push(bytes);
      else this.#long = [];
      return bytes;
    }
    if (this.#long) {
      const [end] = recordEnds(bytes);
      this.#readLong(bytes.subarray(0, end));
      if (this.#longIsTerminal) {
        this.state = 'ended';
        return bytes.subarray(0, end);
      }
    }
    return this.#failure || this.#mayTell(bytes) ? this.#upToEnd(bytes) : bytes;
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
      const record = bytes.subarray(from, to);
      const read = this.#mayTell(record) ? this.#read(record) : undefined;
      if (read?.meaning === 'fault') {
        this.state = 'ended';
        this.#failure = read.record;
        break;
      }
      if (this.#failure && read?.meaning !== 'end') {
        kept.push(bytes.subarray(start, from));
        this.#late ??= new LateRecords();
        this.#late.add(record);
        start = to;
      } else if (read && this.#isUnasked?.(read.record)) {
        kept.push(bytes.subarray(start, from));
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
    if (!record) return undefined;
    const body = parseJson(record.data);
    if (isJsonObject(body)) this.usage = addUsage(this.#upstream, body, this.usage);
    this.#begun = true;
    return { record, meaning: this.#ends.read(record) };
  }

  /** Whether records may report an end or usage. */
  #mayTell(bytes: Buffer): boolean {
    return !this.#begun || this.#ends.marker.test(bytes.toString('latin1'));
  }

  /** Reads the usage of the long record that ends with these bytes. */
  #readLong(last: Buffer): void {
    const record = Buffer.concat([...(this.#long ?? []), last]);
    this.#long = undefined;
    if (this.#mayTell(record)) this.#read(record);
  }

  /**
   * The last bytes, when the upstream has closed the stream, with `error` if it broke off. Throws that error, or `upstream-cut`,
   * if the answer isn't complete.
   */
  close(error?: unknown): Buffer | undefined {
    if (this.state === 'ended' && !this.#failure) return undefined;
    const fault = this.#failure ? new FaultError(this.#faultIn(this.#failure)) : (error ?? new FaultError(cutOff));
    if (this.#long) {
      this.#readLong(emptyLine);
      if (this.#longIsTerminal && this.#cutter.looksWhole) return emptyLine;
      throw fault;
    }
    const held = this.#records.takeHeld();
    const read = held.length > 0 ? this.#read(held) : undefined;
    const last = read && !this.#isUnasked?.(read.record) ? read : undefined;
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

const noBytes = Buffer.alloc(0);
const emptyLine = Buffer.from('\n\n');

const hasWholeData = ({ data }: SseRecord): boolean => data.trim() === '[DONE]' || parseJson(data) !== undefined;

/** The first and last records that passed through, as text; `undefined` if none did. */
export const passedRecords = ({ passed }: ReplyProgress): PassedRecords | undefined =>
  passed && { first: textOf(passed.first), last: textOf(passed.last) };

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
