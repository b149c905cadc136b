import { Buffer } from 'node:buffer';
import type { Answered, ReplyProgress } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import type { ModelEvent, Usage } from '../model/event.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import { Losses } from '../model/loss.ts';
import { chain, runWhole } from '../model/machine.ts';
import type { ClientProtocol, RelayedRecords, StreamEnd, StreamEnds, UpstreamProtocol } from '../model/protocol.ts';
import { cutOff } from '../model/reply.ts';
import { isOutsideFraming, type RecordCutter, readSseRecords, recordEnds, sseText } from '../model/wire/sse.ts';
import type { SseRecord } from '../model/wire/sse-record.ts';
import { AnswerReservation } from './bound-answer.ts';
import { addUsage, type EndState, maxReadBytes } from './read-events.ts';

/** Bytes of a record that are buffered until it is complete. A longer record passes in pieces. */
const maxBufferedBytes = 1024 * 1024;

/** Holds the bytes of a stream's incomplete record, up to a bound. */
export class WholeRecords {
  readonly #cutter: RecordCutter;
  readonly #maxBuffered: number;
  #buffered: Buffer[] = [];
  /** Part of the current record has passed, since it is too long to be buffered. */
  isLong = false;

  /** `cutter` has taken what `take` gets, as far as there are records in it. */
  constructor(cutter: RecordCutter, maxHeld: number = maxBufferedBytes) {
    this.#cutter = cutter;
    this.#maxBuffered = maxHeld;
  }

  /** The bytes that may pass now: complete records, or a piece of a long one. `undefined` if there are none. */
  take(bytes: Buffer): Buffer | undefined {
    if (bytes.length === 0) return undefined;
    const end = this.#cutter.endIn(bytes);
    if (end >= 0) {
      this.isLong = false;
      const whole = this.#join(end < bytes.length ? bytes.subarray(0, end) : bytes);
      if (end < bytes.length) this.#buffered.push(bytes.subarray(end));
      return whole;
    }
    if (this.isLong) return bytes;
    this.#buffered.push(bytes);
    if (this.#cutter.pendingBytes <= this.#maxBuffered) return undefined;
    this.isLong = true;
    return this.takeBuffered();
  }

  /** The bytes of the incomplete record. */
  takeBuffered(): Buffer {
    return this.#join(noBytes);
  }

  /** Empties the buffer: its bytes and these. */
  #join(bytes: Buffer): Buffer {
    if (this.#buffered.length === 0) return bytes;
    const all = Buffer.concat([...this.#buffered, bytes]);
    this.#buffered = [];
    return all;
  }
}

/**
 * Relays a stream in whole records up to the terminal record, and sums up its usage. An incomplete record is dropped,
 * unless only its final empty line is missing: that is added, since clients would drop the record. A finished answer without its
 * terminal record gets one, and one without its finish gets that. An error outside the framing ends it as one inside does.
 */
export class RecordRelay {
  state: EndState = 'open';
  /** The reports of the records so far. */
  usage: Usage = {};
  readonly #cutter: RecordCutter;
  readonly #records: WholeRecords;
  readonly #ends: StreamEnds;
  /** Matches in every record that says more than text. */
  readonly #marker: RegExp;
  readonly #upstream: UpstreamProtocol;
  readonly #context: ReplyContext;
  readonly #progress: ReplyProgress;
  /** The first record that was read. It always is: it may have what counts for the cost. */
  #first: SseRecord | undefined;
  /** The relayed part of a long record; empty if it is too long to be read. `boundReply` counts its bytes until it ends. */
  #long: Buffer[] | undefined;
  /** The long record is the terminal one. */
  #longIsTerminal = false;
  /** The record that reported the answer's failure, which the protocol's terminal error must follow. */
  #failure: SseRecord | undefined;
  readonly #faultIn: (record: SseRecord) => Fault;
  /** Recognizes the usage that the client didn't ask for. */
  readonly #isUnasked: ClientProtocol['isUsageRecord'];
  /** The latest words outside the framing. */
  #said: SseRecord | undefined;
  /** The records from the first call on, for an answer that doesn't say how it ends. */
  readonly #calls: RelayedCalls | undefined;
  /** The fault of an answer that its terminal record ends. */
  #broken: Fault | undefined;
  /** The bytes after a failure: they pass before the terminal record. Without that, the protocol's own follows the failure at once. */
  #late: LateRecords | undefined;

  /** `faultIn` reads the fault in a record that reports a failure. */
  constructor(
    { client, context, progress, request, plan, answerMemory }: Answered,
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
    const { calls, marker } = client.ends;
    this.#marker = calls?.eitherMarker ?? marker;
    if (calls) this.#calls = new RelayedCalls(new AnswerReservation(answerMemory), calls.marker);
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
    // As most records do.
    const isText = !this.#mayTell(bytes, this.#marker);
    const passing = this.#failure || (!isText && this.#mayTell(bytes)) ? this.#upToEnd(bytes) : bytes;
    if (passing && this.state === 'open') this.#calls?.add(passing, !isText);
    return passing;
  }

  /** Nothing more is taken. */
  release(): void {
    this.#calls?.release();
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
        const before = bytes.subarray(start, from);
        const finish = this.state === 'open' ? this.#missingFinish(read.record, before) : undefined;
        this.state = 'ended';
        if (this.#failure && !this.#ends.isFailure(read.record)) break;
        this.#failure = undefined;
        const due = [...(this.#late?.records ?? []), ...(finish ? [finish] : [])];
        if (due.length > 0) {
          kept.push(before, ...due);
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
    const records = runWhole(readSseRecords, this.#context, [bytes]);
    for (const record of records) {
      if (record.outside === 'json' && this.#isError(record)) return { record, meaning: 'fault' };
      if (record.outside === 'text') this.#said = record;
    }
    const record = records.findLast(({ outside }) => outside === undefined);
    if (!record) return undefined;
    const body = parseJson(record.data);
    if (isJsonObject(body)) this.usage = addUsage(this.#upstream, body, this.usage);
    this.#first ??= record;
    return { record, meaning: this.#ends.read(record) };
  }

  /** Whether records may report an end, usage or an error, or what else `marker` matches in. */
  #mayTell(bytes: Buffer, marker = this.#ends.marker): boolean {
    if (!this.#first) return true;
    const text = bytes.toString('latin1');
    return marker.test(text) || isOutsideFraming(text);
  }

  #isError(record: SseRecord): boolean {
    const events: ModelEvent[] = [];
    this.#upstream.decodeStream
      .start({ ...this.#context, losses: new Losses(this.#upstream.wire) })
      .step(record, events);
    return events.some(({ type }) => type === 'error');
  }

  /** The record with the finish that this terminal record lacks, if the protocol needs one. Sets the failure that the records are instead. */
  #missingFinish(end: SseRecord, before: Buffer): Buffer | undefined {
    if (!this.#ends.encodeFinish || this.#ends.isFailure(end)) return undefined;
    if (this.#said) {
      this.#failure = this.#said;
      return undefined;
    }
    const own = { ...this.#context, losses: new Losses(this.#upstream.wire) };
    const calls = this.#calls?.with(before) ?? [];
    const events = runWhole(chain(readSseRecords, this.#upstream.decodeStream), own, [
      ...calls,
      emptyLine,
      this.#terminal,
    ]);
    const stop = events.find((event) => event.type === 'message-stop');
    if (calls.length > 0 && stop?.type !== 'message-stop') {
      this.#failure = end;
      const error = events.find((event) => event.type === 'error');
      this.#broken = error?.type === 'error' ? error.fault : cutOff;
      return undefined;
    }
    this.#context.losses.approximate('reply.finish_reason', 'the upstream sent none');
    const finish = stop?.type === 'message-stop' ? stop.finish : 'end';
    return Buffer.from(sseText([this.#ends.encodeFinish(finish, this.#first)]));
  }

  /** Why the answer isn't complete; `error`: how its connection ended. */
  #faultAtEnd(error: unknown): unknown {
    if (this.#broken) return new FaultError(this.#broken);
    const told = this.#failure ?? this.#said;
    return told ? new FaultError(this.#faultIn(told)) : (error ?? new FaultError(cutOff));
  }

  /** The protocol's terminal record; empty if it needs none. */
  get #terminal(): Buffer {
    const { terminal } = this.#ends;
    return terminal ? Buffer.from(sseText([terminal])) : noBytes;
  }

  #hasWholeData({ data }: SseRecord): boolean {
    return data.trim() === this.#ends.terminal?.data || parseJson(data) !== undefined;
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
    const fault = this.#faultAtEnd(error);
    if (this.#long) {
      this.#readLong(emptyLine);
      if (this.#longIsTerminal && this.#cutter.looksWhole) return emptyLine;
      throw fault;
    }
    const buffered = this.#records.takeBuffered();
    const read = buffered.length > 0 ? this.#read(buffered) : undefined;
    const last = read && !this.#isUnasked?.(read.record) ? read : undefined;
    const whole = last && this.#hasWholeData(last.record) ? last : undefined;
    if (whole && (whole.meaning === 'fault' || (whole.meaning === 'finish' && this.#ends.isFailure(whole.record)))) {
      throw new FaultError(this.#faultIn(whole.record));
    }
    const ends = whole?.meaning === 'end';
    const finish = ends && this.state === 'open' ? this.#missingFinish(whole.record, noBytes) : undefined;
    if (this.#failure && !(ends && this.#ends.isFailure(whole.record))) throw this.#faultAtEnd(error);
    const isComplete =
      whole?.meaning === 'end' || (error === undefined && (whole?.meaning === 'finish' || this.state === 'finished'));
    if (!isComplete) throw this.#faultAtEnd(error);
    const added = whole?.meaning === 'end' ? noBytes : this.#terminal;
    if (!whole) return added.length > 0 ? added : undefined;
    return Buffer.concat([finish ?? noBytes, buffered, emptyLine, added]);
  }
}

/** The records of an answer from its first call on, up to a bound. */
class RelayedCalls {
  readonly #memory: AnswerReservation;
  readonly #marker: RegExp;
  #records: Buffer[] = [];
  #bytes = 0;
  #isFound = false;

  /** `marker` matches in each record of a call. */
  constructor(memory: AnswerReservation, marker: RegExp) {
    this.#memory = memory;
    this.#marker = marker;
  }

  /** `mayCall`: there may be a part of a call among them. */
  add(records: Buffer, mayCall: boolean): void {
    this.#isFound ||= mayCall && this.#marker.test(records.toString('latin1'));
    if (!this.#isFound || this.#bytes > maxBufferedBytes) return;
    this.#bytes += records.length;
    if (this.#bytes <= maxBufferedBytes && this.#memory.tryReserve(this.#bytes)) this.#records.push(records);
    else {
      // The first of them ends within a call: it counts as one that isn't whole.
      this.#bytes = Number.POSITIVE_INFINITY;
      this.#records.length = 1;
      this.#memory.set(0);
    }
  }

  /** The records up to now, with the last ones; empty if they have no call. */
  with(last: Buffer): readonly Buffer[] {
    return this.#isFound || this.#marker.test(last.toString('latin1')) ? [...this.#records, last] : [];
  }

  release(): void {
    this.#records = [];
    this.#memory.set(0);
  }
}

/** A few records, up to a bound. */
class LateRecords {
  readonly records: Buffer[] = [];
  #bytes = 0;

  add(record: Buffer): void {
    this.#bytes += record.length;
    if (this.#bytes <= maxBufferedBytes) this.records.push(record);
  }
}

const noBytes = Buffer.alloc(0);
const emptyLine = Buffer.from('\n\n');

/** The records that the end of a relayed stream depends on, as text; `undefined` if there are none. */
export const relayedRecords = ({ relayed }: ReplyProgress): RelayedRecords | undefined =>
  relayed && { first: textOf(relayed.first), last: textOf(relayed.last), numbered: textOf(relayed.numbered) };

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
