import { TextDecoder } from 'node:util';
import { machine } from './model/machine.ts';
import type { SseRecord } from './model/protocol.ts';

interface State {
  /** Made for a stream whose chunks end inside a letter. */
  decoder: TextDecoder | undefined;
  /** The last chunk ended inside a letter, as far as one can tell from its last byte. */
  amidLetter: boolean;
  /** Some text has come: a byte order mark is none any more. */
  begun: boolean;
  /** Pieces of the line that hasn't ended yet; joined once, so that a long line costs linear time. */
  readonly line: string[];
  /** The last chunk ended in CR: a line feed at the start of the next one belongs to it. */
  afterCr: boolean;
  event: string;
  /** The `data:` lines of the record that hasn't ended yet. */
  data: string | undefined;
}

/**
 * Bytes → SSE records, at any split. Lines end in LF, CRLF or CR; comments and unknown fields are skipped; a byte order mark
 * is ignored. A record that lacks its empty line counts when the stream ended well. Source: HTML standard, "Server-sent events".
 */
export const readSseRecords = machine<State, Uint8Array, SseRecord>({
  initial: () => ({
    decoder: undefined,
    amidLetter: false,
    begun: false,
    line: [],
    afterCr: false,
    event: '',
    data: undefined,
  }),
  step(state, chunk, out) {
    readText(state, decode(state, chunk), out);
  },
  end(state, out) {
    if (state.decoder && state.amidLetter) readText(state, state.decoder.decode(), out);
    if (state.line.length > 0) {
      const line = takeLine(state, '');
      readLine(state, line, 0, line.length, out);
    }
    dispatch(state, out);
  },
});

/** The chunk's text. A `TextDecoder` costs several times as much, so it serves only where a letter is cut in two. */
const decode = (state: State, chunk: Uint8Array): string => {
  const last = chunk[chunk.length - 1];
  if (last === undefined) return '';
  const text =
    state.amidLetter || last >= 0x80
      ? decodeOn(state, chunk)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString();
  state.amidLetter = last >= 0x80;
  if (state.begun || text === '') return text;
  state.begun = true;
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text;
};

const decodeOn = (state: State, chunk: Uint8Array): string => {
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

/** The line that stands in `text` between these places. */
const readLine = (state: State, text: string, from: number, to: number, out: SseRecord[]): void => {
  if (from === to) {
    dispatch(state, out);
    return;
  }
  // Long lines are many: none is cut out just to see how it begins.
  switch (text.charCodeAt(from)) {
    case letterD:
      if (text.startsWith('data:', from)) addData(state, fieldValue(text, from + 5, to));
      else if (text.slice(from, to) === 'data') addData(state, '');
      return;
    case letterE:
      if (text.startsWith('event:', from)) state.event = fieldValue(text, from + 6, to);
  }
};

const letterD = 0x64;
const letterE = 0x65;

const fieldValue = (text: string, from: number, to: number): string =>
  text.slice(from < to && text.charCodeAt(from) === 0x20 ? from + 1 : from, to);

const addData = (state: State, line: string): void => {
  state.data = state.data === undefined ? line : `${state.data}\n${line}`;
};

const dispatch = (state: State, out: SseRecord[]): void => {
  if (state.data !== undefined) out.push({ event: state.event, data: state.data });
  state.event = '';
  state.data = undefined;
};
