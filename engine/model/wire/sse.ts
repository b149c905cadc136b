import { Buffer } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { closeBrace, isJsonObject, type Json, parseJson, writeJson } from '../json/json.ts';
import { JsonPosition } from '../json/json-pieces.ts';
import { machine } from '../machine.ts';
import { pageTitle } from '../upstream-error/read-error.ts';
import type { AnswerChunk, SseRecord } from './sse-record.ts';

interface State {
  /** Created once a chunk ends inside a character. */
  decoder: TextDecoder | undefined;
  /** The last chunk may have ended inside a character: its last byte isn't ASCII. */
  insideCharacter: boolean;
  /** Text was seen: U+FEFF is ordinary text from now on. */
  started: boolean;
  /** Pieces of the incomplete line; joined once, so a long line costs linear time. */
  readonly line: string[];
  /** The last chunk ended in CR: a line feed at the start of the next chunk belongs to it. */
  afterCr: boolean;
  event: string;
  /** The `data:` lines of the incomplete record. */
  data: string | undefined;
  /** Whether only the first line of the incomplete record's JSON has a field's name; `undefined` until another line shows it. */
  continues: boolean | undefined;
  outside: Outside | undefined;
}

/** The lines outside the framing since the last record. */
interface Outside {
  readonly lines: string[];
  length: number;
  /** Of JSON that is incomplete; `undefined` for other words. */
  position: JsonPosition | undefined;
}

/** Characters of JSON outside the framing that are collected, and of other words. */
const maxOutside = { json: 1 << 20, text: 2_048 } as const;

/**
 * Decodes bytes into SSE records, at any split. Lines end in LF, CRLF or CR; comments, records without content and a byte order mark
 * are ignored. A last record without its empty line counts if the stream ended normally. Lines that are no field are records marked as
 * `outside`. What comes as records passes. Source: HTML standard, "Server-sent events".
 */
export const readSseRecords = machine<State, AnswerChunk, SseRecord, unknown>({
  initial: () => ({
    decoder: undefined,
    insideCharacter: false,
    started: false,
    line: [],
    afterCr: false,
    event: '',
    data: undefined,
    continues: undefined,
    outside: undefined,
  }),
  step(state, chunk, out) {
    if (chunk instanceof Uint8Array) readText(state, decode(state, chunk), out);
    else for (const { event, data } of chunk.records) out.push({ event, data: bufferOf(data).toString() });
  },
  end(state, out) {
    if (state.decoder && state.insideCharacter) readText(state, state.decoder.decode(), out);
    if (state.line.length > 0) {
      const line = takeLine(state, '');
      readLine(state, line, 0, line.length, out);
    }
    dispatch(state, out);
    flushOutside(state, out);
  },
});

/** Decodes a chunk. `TextDecoder` is several times slower, so it is used only when a character may be split. */
const decode = (state: State, chunk: Uint8Array): string => {
  const last = chunk[chunk.length - 1];
  if (last === undefined) return '';
  const text =
    state.insideCharacter || last >= 0x80
      ? decodeWithState(state, chunk)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString();
  state.insideCharacter = last >= 0x80;
  if (state.started || text === '') return text;
  state.started = true;
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
};

const decodeWithState = (state: State, chunk: Uint8Array): string => {
  state.decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
  return state.decoder.decode(chunk, { stream: true });
};

const byteOrderMark = 0xfeff;

const readText = (state: State, decoded: string, out: SseRecord[]): void => {
  const text = unifyLineEnds(state, decoded);
  let from = 0;
  for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
    if (state.line.length === 0) readLine(state, text, from, to, out);
    else {
      const line = takeLine(state, text.slice(from, to));
      readLine(state, line, 0, line.length, out);
    }
    from = to + 1;
  }
  if (from < text.length) state.line.push(text.slice(from));
};

const unifyLineEnds = (state: State, decoded: string): string => {
  if (decoded === '') return decoded;
  const text = state.afterCr && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
  state.afterCr = decoded.endsWith('\r');
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
};

const takeLine = (state: State, tail: string): string => {
  const line = state.line.join('') + tail;
  state.line.length = 0;
  return line;
};

/** Reads the line of `text` between `from` and `to`. */
const readLine = (state: State, text: string, from: number, to: number, out: SseRecord[]): void => {
  if (from === to) {
    dispatch(state, out);
    return;
  }
  // Compares in place: slicing each long line just to check its field name is slow.
  switch (text.charCodeAt(from)) {
    case letterD:
      if (text.startsWith('data:', from)) {
        if (state.outside) flushOutside(state, out);
        addData(state, fieldValue(text, from + 5, to));
        return;
      }
      break;
    case letterE:
      if (text.startsWith('event:', from)) {
        if (state.outside) flushOutside(state, out);
        state.event = fieldValue(text, from + 6, to);
        return;
      }
      break;
    case colon:
      if (!state.outside?.position) return;
  }
  const line = text.slice(from, to);
  if (line === 'data') addData(state, '');
  else if (!otherFields.test(line)) readOutside(state, line, out);
};

const colon = 0x3a;

/** The fields that records don't need. */
const otherFields = /^(?:id|retry|event)(?::|$)/;

/** Reads a line that is no field. JSON is a record as soon as it is complete; other words are one when something else follows. */
const readOutside = (state: State, line: string, out: SseRecord[]): void => {
  if (state.data !== undefined) {
    state.continues ??= jsonLine.test(line) && /^\s{0,9}[{[]/.test(state.data) && parseJson(state.data) === undefined;
    if (state.continues) {
      addData(state, line);
      return;
    }
  }
  const begins = jsonStart.test(line);
  if (begins && state.data !== undefined) dispatch(state, out);
  if (begins && !state.outside?.position) flushOutside(state, out);
  state.outside ??= { lines: [], length: 0, position: begins ? new JsonPosition() : undefined };
  const { outside } = state;
  const { position } = outside;
  const room = (position ? maxOutside.json : maxOutside.text) - outside.length;
  if (room > 0) outside.lines.push(line.slice(0, room));
  outside.length += line.length + 1;
  if (!position) return;
  for (let at = 0; at < line.length; at += 1) position.read(line.charCodeAt(at));
  if (position.depth <= 0 || outside.length > maxOutside.json) flushOutside(state, out);
};

/** A line of formatted JSON, after its first, by its first token: an object or a list that isn't indented is one of its own. */
const jsonLine = /^(?:["}\]]|\s+(?:["{}[\]\d,-]|true|false|null|$))/;

/** JSON may stand in a list whose other items are framed. */
const jsonStart = /^[\s,]{0,99}[{[]/;

/** Emits what stands outside the framing so far. */
const flushOutside = (state: State, out: SseRecord[]): void => {
  const { outside } = state;
  if (!outside) return;
  state.outside = undefined;
  const text = outside.lines.join('\n').trim();
  const value = outside.position && (parseJson(text) ?? parseJson(withoutList(text)));
  const items: readonly Json[] = Array.isArray(value) ? value : [value ?? null];
  const objects = items.filter(isJsonObject);
  for (const object of objects) out.push({ event: state.event, data: writeJson(object), outside: 'json' });
  if (objects.length > 0) {
    state.event = '';
    return;
  }
  if (text === '[DONE]') out.push({ event: '', data: text, outside: 'json' });
  const words = (text.startsWith('<') ? pageTitle(text) : text).slice(0, maxOutside.text);
  if (wordsIn.test(words) && text !== '[DONE]') out.push({ event: '', data: words, outside: 'text' });
};

const wordsIn = /[\p{L}\d]/u;

/** An item of a list without the list's own brackets and commas. */
const withoutList = (text: string): string => {
  let from = 0;
  let to = text.length;
  while (from < to && isListMark(text.charCodeAt(from))) from += 1;
  while (to > from && isListMark(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
};

const isListMark = (code: number): boolean => code <= 0x20 || code === 0x2c || code === 0x5b || code === 0x5d;

/** Whether a line of whole records is neither a field nor a comment. */
export const isOutsideFraming = (records: string): boolean => {
  const text = records.includes('\r') ? records.replaceAll('\r', '\n') : records;
  for (let from = 0; from < text.length; ) {
    const code = text.charCodeAt(from);
    const isInside =
      code === letterD ? text.startsWith('data', from) : code === lineFeed || code === colon || isField(text, from);
    if (!isInside) return true;
    const to = text.indexOf('\n', from);
    if (to < 0) return false;
    from = to + 1;
  }
  return false;
};

const isField = (text: string, from: number): boolean =>
  text.startsWith('event', from) || text.startsWith('id', from) || text.startsWith('retry', from);

const letterD = 0x64;
const letterE = 0x65;

const fieldValue = (text: string, from: number, to: number): string =>
  text.slice(from < to && text.charCodeAt(from) === 0x20 ? from + 1 : from, to);

const addData = (state: State, line: string): void => {
  state.data = state.data === undefined ? line : `${state.data}\n${line}`;
};

const dispatch = (state: State, out: SseRecord[]): void => {
  if (state.data !== undefined && notSpace.test(state.data)) {
    const record = { event: state.event, data: state.data };
    out.push(state.continues ? { ...record, outside: 'json' } : record);
  }
  state.event = '';
  state.data = undefined;
  state.continues = undefined;
  if (state.outside && !state.outside.position) flushOutside(state, out);
};

const notSpace = /\S/;

/** Whether a record's parsed data holds nothing: some servers send `null` and the like between their records. */
export const isBlank = (data: unknown): boolean =>
  data === null || typeof data === 'number' || typeof data === 'boolean' || (Array.isArray(data) && data.length === 0);

/** A record's type: its `event:` field, else the `type` of its data, which may be truncated after it. */
export const recordType = ({ event, data }: SseRecord): string | undefined => {
  if (event !== '') return event;
  const first = leadingType.exec(data.slice(0, 200))?.[1];
  if (first !== undefined) return first;
  const value = parseJson(data);
  return isJsonObject(value) && typeof value.type === 'string' ? value.type : undefined;
};

/** Nearly all records start with their type. */
const leadingType = /^\s{0,9}\{\s{0,9}"type"\s{0,9}:\s{0,9}"([\w.]{1,99})"/;

/** Records as the text of Server-Sent Events. Their data are one line each. */
export const sseText = (records: readonly SseRecord[]): string => {
  const texts: string[] = [];
  let name = '';
  let head = 'data: ';
  for (const { event, data } of records) {
    // Neighbours mostly have the same name.
    if (event !== name) {
      name = event;
      head = name === '' ? 'data: ' : `event: ${name}\ndata: `;
    }
    texts.push(head + data);
  }
  texts.push('');
  return texts.join('\n\n');
};

/** A chunk as bytes; records as those of Server-Sent Events. */
export const bytesOf = (chunk: AnswerChunk): Uint8Array =>
  chunk instanceof Uint8Array
    ? chunk
    : Buffer.concat(
        chunk.records.flatMap(({ event, data }) => [Buffer.from(`event: ${event}\ndata: `), data, recordEnd]),
      );

const recordEnd = Buffer.from('\n\n');

/** Size of a chunk in bytes; of records, that of their data. */
export const lengthOf = (chunk: AnswerChunk): number => {
  if (chunk instanceof Uint8Array) return chunk.length;
  let length = 0;
  for (const { data } of chunk.records) length += data.length;
  return length;
};

/**
 * Finds where the records of a stream end, chunk by chunk, at any split: after an empty line. Lines end in LF, CRLF or CR. Keeps two
 * bytes and a count, and searches chunks with native functions, which cost far less than a loop over bytes.
 */
export class RecordCutter {
  /** Bytes since the end of the last whole record. */
  pendingBytes = 0;
  #last = -1;
  #secondLast = -1;

  /** Takes the next bytes of the stream. */
  take(chunk: Uint8Array): void {
    const { length } = chunk;
    if (length === 0) return;
    const last = chunk[length - 1] ?? -1;
    const secondLast = chunk[length - 2] ?? this.#last;
    // Most chunks end with their last record.
    const end = last === lineFeed && secondLast === lineFeed ? length : lastEnd(bufferOf(chunk), this.#last);
    this.#last = last;
    this.#secondLast = secondLast;
    this.pendingBytes = end < 0 ? this.pendingBytes + length : length - end;
  }

  /** The offset in the last bytes taken at which the last whole record ends; -1 if none ends there. `bytes` may begin elsewhere. */
  endIn(bytes: Uint8Array): number {
    return this.pendingBytes < bytes.length ? bytes.length - this.pendingBytes : -1;
  }

  /** Judging by its last bytes, the incomplete record lacks only its empty line. */
  get looksWhole(): boolean {
    return this.#last === closeBrace || (isLineEnd(this.#last) && this.#secondLast === closeBrace);
  }
}

/** The offsets at which records end, in order; the last is the bytes' length, if its record is incomplete. Searches no byte twice. */
export function* recordEnds(bytes: Buffer): Generator<number> {
  const gaps = emptyLinesIn(bytes).map((line) => ({ line, at: bytes.indexOf(line) }));
  for (let from = 0; from < bytes.length; ) {
    let first = -1;
    for (const gap of gaps) {
      if (gap.at >= 0 && gap.at < from) gap.at = bytes.indexOf(gap.line, from);
      if (gap.at >= 0 && (first < 0 || gap.at < first)) first = gap.at;
    }
    from = first < 0 ? bytes.length : afterEmptyLine(bytes, first);
    yield from;
  }
}

/** The offset after the last empty line, else -1. `before`: the byte before these. */
const lastEnd = (bytes: Buffer, before: number): number => {
  let at = -1;
  for (const line of emptyLinesIn(bytes)) at = Math.max(at, bytes.lastIndexOf(line));
  if (at >= 0) return afterEmptyLine(bytes, at);
  const [first] = bytes;
  const isEmptyLine = before === lineFeed ? isLineEnd(first) : before === carriageReturn && first === carriageReturn;
  return isEmptyLine ? afterEmptyLine(bytes, -1) : -1;
};

/** The offset after the empty line that begins at `at`. */
const afterEmptyLine = (bytes: Buffer, at: number): number =>
  bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed ? at + 3 : at + 2;

/** The first two bytes of an empty line: the previous line's end and its own. */
const emptyLines = ['\n\n', '\n\r', '\r\r'].map((text) => Buffer.from(text));
const plainEmptyLines = emptyLines.slice(0, 1);

const emptyLinesIn = (bytes: Buffer): readonly Buffer[] =>
  bytes.includes(carriageReturn) ? emptyLines : plainEmptyLines;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

const isLineEnd = (byte: number | undefined): boolean => byte === lineFeed || byte === carriageReturn;

/** The same bytes, as what has native searches. */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
