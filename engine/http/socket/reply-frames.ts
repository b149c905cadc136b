import { Buffer } from 'node:buffer';
import { closeBrace } from '../../model/json/json.ts';
import { bufferOf, RecordCutter, recordEnds } from '../../model/wire/sse.ts';

/** Called for each record. `event`: its `event:` line; empty without one. */
type TakeRecord = (event: string, data: string | Buffer) => void;

/**
 * Cuts a provider's SSE answer into its records' data, which are the messages of the same answer over a WebSocket: without parsing or
 * copying them. Comments, and records that surely hold no JSON object, are left out.
 */
export class ReplyFrames {
  readonly #take: TakeRecord;
  #cutter = new RecordCutter();
  /** The pieces of an incomplete record. */
  #buffered: Buffer[] = [];

  constructor(take: TakeRecord) {
    this.#take = take;
  }

  /** Bytes of the incomplete record. */
  get bufferedBytes(): number {
    return this.#buffered.length === 0 ? 0 : this.#cutter.pendingBytes;
  }

  /** Takes the next bytes of the answer, which may end inside a record. */
  take(bytes: Uint8Array): void {
    const chunk = bufferOf(bytes);
    this.#cutter.take(chunk);
    const end = this.#cutter.endIn(chunk);
    if (end < 0) {
      this.#keep(chunk);
      return;
    }
    const whole = end < chunk.length ? chunk.subarray(0, end) : chunk;
    const records = this.#buffered.length === 0 ? whole : Buffer.concat([...this.#buffered, whole]);
    this.#buffered = [];
    if (records.includes(carriageReturn)) {
      let from = 0;
      for (const to of recordEnds(records)) {
        this.#takeLines(records.toString('utf8', from, to));
        from = to;
      }
    } else this.#takeRecords(records);
    if (end < chunk.length) this.#keep(chunk.subarray(end));
  }

  /** Forgets the incomplete record. */
  drop(): void {
    if (this.#buffered.length === 0) return;
    this.#buffered = [];
    this.#cutter = new RecordCutter();
  }

  /** Copies: a chunk that is buffered would keep all that was read with it. */
  #keep(bytes: Buffer): void {
    this.#buffered.push(Buffer.from(bytes));
  }

  /** Records whose lines end in line feeds. */
  #takeRecords(bytes: Buffer): void {
    let from = 0;
    while (from < bytes.length) {
      const isNamed = isFieldAt(bytes, from, eventField);
      const data = isNamed ? bytes.indexOf(lineFeed, from) + 1 : from;
      const end = isFieldAt(bytes, data, dataField) ? bytes.indexOf(lineFeed, data) : -1;
      if (end > 0 && bytes[end + 1] === lineFeed && bytes[end - 1] === closeBrace) {
        const event = isNamed ? bytes.toString('latin1', from + eventField.length, data - 1) : '';
        this.#take(event, bytes.subarray(data + 6, end));
        from = end + 2;
        continue;
      }
      const gap = bytes.indexOf(emptyLine, from);
      const to = gap < 0 ? bytes.length : gap;
      this.#takeLines(bytes.toString('utf8', from, to));
      from = to + 2;
    }
  }

  /** A record of any form. Source: HTML standard, "Server-sent events". */
  #takeLines(record: string): void {
    let event = '';
    const data: string[] = [];
    for (const line of record.split(lineEnd)) {
      if (line.startsWith('data:')) data.push(fieldValue(line, 5));
      else if (line.startsWith('event:')) event = fieldValue(line, 6);
    }
    const text = data.join('\n').trim();
    // A mark such as `[DONE]` is no event, nor is half an object.
    if (text.startsWith('{') && text.endsWith('}')) this.#take(event, text);
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const emptyLine = Buffer.from('\n\n');
const eventField = Buffer.from('event: ');
const dataField = Buffer.from('data: {');
const lineEnd = /\r\n|\n|\r/;

const isFieldAt = (bytes: Buffer, at: number, field: Buffer): boolean => {
  for (let offset = 0; offset < field.length; offset += 1) if (bytes[at + offset] !== field[offset]) return false;
  return true;
};

const fieldValue = (line: string, from: number): string =>
  line[from] === ' ' ? line.slice(from + 1) : line.slice(from);
