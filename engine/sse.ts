import { TextDecoder } from 'node:util';
import { machine } from './model/machine.ts';
import type { SseRecord } from './model/protocol.ts';

interface State {
  readonly decoder: TextDecoder;
  /** Pieces of the line that hasn't ended yet; joined once, so that a long line costs linear time. */
  readonly line: string[];
  /** The last chunk ended in CR: a line feed at the start of the next one belongs to it. */
  afterCr: boolean;
  event: string;
  readonly data: string[];
}

/**
 * Bytes → SSE records, at any split. Lines end in LF, CRLF or CR; comments and unknown fields are skipped; a byte order mark
 * is ignored. A record that lacks its empty line counts when the stream ended well. Source: HTML standard, "Server-sent events".
 */
export const readSseRecords = machine<State, Uint8Array, SseRecord>({
  initial: () => ({ decoder: new TextDecoder(), line: [], afterCr: false, event: '', data: [] }),
  step(state, chunk, out) {
    readText(state, state.decoder.decode(chunk, { stream: true }), out);
  },
  end(state, out) {
    readText(state, state.decoder.decode(), out);
    if (state.line.length > 0) readLine(state, takeLine(state, ''), out);
    dispatch(state, out);
  },
});

const readText = (state: State, decoded: string, out: SseRecord[]): void => {
  const text = unifyLineEnds(state, decoded);
  let from = 0;
  for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
    const tail = text.slice(from, to);
    readLine(state, state.line.length > 0 ? takeLine(state, tail) : tail, out);
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

const readLine = (state: State, line: string, out: SseRecord[]): void => {
  if (line === '') dispatch(state, out);
  else if (line.startsWith('data:')) state.data.push(fieldValue(line, 5));
  else if (line.startsWith('event:')) state.event = fieldValue(line, 6);
  else if (line === 'data') state.data.push('');
};

const fieldValue = (line: string, from: number): string => line.slice(line.charCodeAt(from) === 32 ? from + 1 : from);

const dispatch = (state: State, out: SseRecord[]): void => {
  if (state.data.length > 0) out.push({ event: state.event, data: state.data.join('\n') });
  state.event = '';
  state.data.length = 0;
};
