import { Buffer } from 'node:buffer';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Answered, ReplyProgress } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import { FaultError } from '../model/fault.ts';
import { parseJson } from '../model/json/json.ts';
import { runWhole } from '../model/machine.ts';
import type { RelayedRecords, SseRecord, StreamEnd, StreamEnds } from '../model/protocol.ts';
import { cutOff } from '../model/reply.ts';
import { readSseRecords } from '../model/sse.ts';
import { operate } from './rx/operate.ts';
import type { Ending } from './until-end.ts';
import { nextRecord, WholeRecords } from './whole-records.ts';

/**
 * Passes a stream on in whole records, unchanged, up to the terminal record. An incomplete record is dropped, unless only its
 * final empty line is missing: that is added, since clients would drop the record. A finished answer without its terminal record
 * gets one. Throws `upstream-cut` if the stream closes before its answer is complete.
 */
export const passRecords = (answered: Answered, ending: Ending): MonoTypeOperatorFunction<Uint8Array> =>
  answered.answer.streamed ? operate(() => new RecordPasser(answered, ending)) : (source) => source;

class RecordPasser {
  readonly #records = new WholeRecords();
  readonly #ends: StreamEnds;
  readonly #signs: readonly Buffer[];
  readonly #context: ReplyContext;
  readonly #answered: Answered;
  readonly #ending: Ending;
  /** The long record that is passing in pieces is the terminal one. */
  #longIsTerminal = false;

  constructor(answered: Answered, ending: Ending) {
    this.#answered = answered;
    this.#ending = ending;
    this.#ends = answered.client.ends;
    this.#signs = signsOf(this.#ends);
    this.#context = answered.context;
  }

  next(chunk: Uint8Array): Uint8Array | undefined {
    const { progress } = this.#answered;
    const wasLong = this.#records.isLong;
    const bytes = this.#records.take(chunk);
    const { isLong } = this.#records;
    progress.betweenRecords = !isLong;
    if (bytes === undefined) return undefined;
    if (isLong) {
      if (!wasLong) this.#longIsTerminal = this.#read(bytes)?.meaning === 'end';
      return bytes;
    }
    if (this.#longIsTerminal) {
      this.#ending.state = 'ended';
      return bytes.subarray(0, nextRecord(bytes, 0));
    }
    return this.#signs.some((sign) => bytes.includes(sign)) ? this.#upToEnd(bytes) : bytes;
  }

  end(): Uint8Array | undefined {
    return this.#close(undefined);
  }

  failed(error: unknown): Uint8Array | undefined {
    return this.#close(error);
  }

  /** The bytes up to and including the terminal record; all bytes if there is none. */
  #upToEnd(bytes: Buffer): Buffer {
    let from = 0;
    while (from < bytes.length) {
      const to = nextRecord(bytes, from);
      const meaning = this.#read(bytes.subarray(from, to))?.meaning;
      if (meaning === 'end') {
        this.#ending.state = 'ended';
        return bytes.subarray(0, to);
      }
      if (meaning === 'finish') this.#ending.state = 'finished';
      from = to;
    }
    return bytes;
  }

  #read(bytes: Buffer): { readonly record: SseRecord; readonly meaning: StreamEnd | undefined } | undefined {
    const record = runWhole(readSseRecords, this.#context, [bytes]).at(-1);
    return record && { record, meaning: this.#ends.read(record) };
  }

  #close(error: unknown): Uint8Array | undefined {
    if (this.#ending.state === 'ended') return undefined;
    const fault = error ?? new FaultError(cutOff);
    if (this.#records.isLong) {
      if (this.#longIsTerminal && this.#records.looksWhole) return emptyLine;
      throw fault;
    }
    const { held } = this.#records;
    const last = held.length > 0 ? this.#read(held) : undefined;
    const whole = last && hasWholeData(last.record) ? last : undefined;
    const isComplete = whole?.meaning === 'end' || (error === undefined && isDone(whole?.meaning, this.#ending));
    if (!isComplete) throw fault;
    const terminal = whole?.meaning === 'end' ? '' : (this.#ends.terminal ?? '');
    if (!whole) return terminal === '' ? undefined : Buffer.from(terminal);
    return Buffer.concat([held, emptyLine, Buffer.from(terminal)]);
  }
}

const isDone = (meaning: StreamEnd | undefined, { state }: Ending): boolean =>
  meaning === 'finish' || state === 'finished';

const emptyLine = Buffer.from('\n\n');

const hasWholeData = ({ data }: SseRecord): boolean => data.trim() === '[DONE]' || parseJson(data) !== undefined;

const signsOf = (ends: StreamEnds): readonly Buffer[] => {
  const known = signs.get(ends);
  if (known) return known;
  const made = ends.signs.map((sign) => Buffer.from(sign));
  signs.set(ends, made);
  return made;
};

/** By protocol. */
const signs = new WeakMap<StreamEnds, readonly Buffer[]>();

/** The first and last records that passed through, as text; `undefined` if none did. */
export const relayedRecords = ({ relayed }: ReplyProgress): RelayedRecords | undefined =>
  relayed && { first: textOf(relayed.first), last: textOf(relayed.last) };

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
