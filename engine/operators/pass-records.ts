import { Buffer } from 'node:buffer';
import type { Answered, ReplyProgress } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import { FaultError } from '../model/fault.ts';
import { parseJson } from '../model/json/json.ts';
import { runWhole } from '../model/machine.ts';
import type { RelayedRecords, SseRecord, StreamEnd, StreamEnds } from '../model/protocol.ts';
import { cutOff } from '../model/reply.ts';
import { readSseRecords } from '../model/sse.ts';
import type { EndState } from './answer-end.ts';
import { nextRecord, WholeRecords } from './whole-records.ts';

/**
 * Passes a stream on in whole records, unchanged, up to the terminal record. An incomplete record is dropped, unless only its
 * final empty line is missing: that is added, since clients would drop the record. A finished answer without its terminal record
 * gets one.
 */
export class RecordPasser {
  state: EndState = 'open';
  readonly #records = new WholeRecords();
  readonly #ends: StreamEnds;
  readonly #signs: readonly Buffer[];
  readonly #context: ReplyContext;
  readonly #progress: ReplyProgress;
  /** The long record that is passing in pieces is the terminal one. */
  #longIsTerminal = false;

  constructor({ client, context, progress }: Pick<Answered, 'client' | 'context' | 'progress'>) {
    this.#ends = client.ends;
    this.#signs = signsOf(client.ends);
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
    return this.#signs.some((sign) => bytes.includes(sign)) ? this.#upToEnd(bytes) : bytes;
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
