import type { Socket } from 'node:net';
import { parseAs } from '../parse-as.ts';
import { connectTo } from './connect-to.ts';
import type { Sink } from './connection.ts';

/** Of a frame. Source: RFC 6455, section 5.2. */
const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

const headEnd = Buffer.from('\r\n\r\n');
const textDelta = Buffer.from('"response.output_text.delta"');

/** Types of the messages after which no other one of the answer follows. */
const lastTypes: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/**
 * One WebSocket connection to a Responses endpoint with one request at a time. A request is a `response.create`; the messages of its
 * answer reach the sink as the records of an SSE stream, so that the same check reads both. Like `Connection`, it has only what a load
 * generator needs.
 */
export class SocketConnection {
  readonly #socket: Socket;
  #sink: Sink | undefined;
  #state: 'handshake' | 'open' = 'handshake';
  /** A request that waits for the handshake. */
  #unsent: readonly Buffer[] | undefined;
  /** The beginning of a head or frame that a read has cut. */
  #buffered: Buffer | undefined;
  /** The payloads of a fragmented message so far. */
  #fragments: Buffer[] = [];
  /** No message of the answer has come yet. */
  #isFirst = true;
  /** It can't be used again. */
  closed = false;

  /** `head`: the handshake's lines, without those of the protocol switch. */
  constructor(host: string, port: number, head: readonly string[]) {
    this.#socket = connectTo(host, port, (bytes) => this.#read(bytes));
    this.#socket.on('error', (error) => this.#broken(error.message));
    this.#socket.on('close', () => this.#broken('the connection was closed amid an answer'));
    const upgrade = [
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      // The one of RFC 6455: nothing here depends on its being new.
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    this.#socket.write([...head, ...upgrade, '', ''].join('\r\n'));
  }

  /** Sends a request, whose body is a JSON object in pieces; its answer goes to `sink`. */
  send(body: readonly Buffer[], sink: Sink): void {
    this.#sink = sink;
    this.#isFirst = true;
    if (this.closed) this.#broken('the connection was closed');
    else if (this.#state === 'open') this.#create(body);
    else this.#unsent = body;
  }

  /** Holds the connection for later, without keeping the process alive for it. */
  rest(): void {
    this.#socket.unref();
  }

  wake(): void {
    this.#socket.ref();
  }

  close(): void {
    this.closed = true;
    this.#sink = undefined;
    this.#socket.destroy();
  }

  #create([first = Buffer.alloc(0), ...others]: readonly Buffer[]): void {
    this.#write(opcodes.text, [createOpening, first.subarray(1), ...others]);
  }

  /** The mask of zeros leaves the payload as it is, which costs the generator nothing and the server as much as any other. */
  #write(opcode: number, payload: readonly Buffer[]): void {
    const length = payload.reduce((sum, piece) => sum + piece.length, 0);
    const isShort = length < 126;
    const head = Buffer.alloc(isShort ? 6 : 14);
    head[0] = 0x80 | opcode;
    head[1] = 0x80 | (isShort ? length : 127);
    if (!isShort) head.writeBigUInt64BE(BigInt(length), 2);
    this.#socket.cork();
    for (const piece of [head, ...payload]) this.#socket.write(piece);
    this.#socket.uncork();
  }

  #broken(reason: string): void {
    this.closed = true;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.fail(reason);
  }

  #read(arrived: Buffer): void {
    const bytes = this.#buffered ? Buffer.concat([this.#buffered, arrived]) : arrived;
    this.#buffered = undefined;
    let from = this.#state === 'handshake' ? this.#readHead(bytes) : 0;
    while (from < bytes.length && !this.closed) {
      const next = this.#readFrame(bytes, from);
      if (next === from) break;
      from = next;
    }
    if (from < bytes.length && !this.closed) this.#buffered = Buffer.from(bytes.subarray(from));
  }

  /** Gives the position after the head; 0 if it isn't complete. */
  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf(headEnd);
    if (end < 0) return 0;
    const status = bytes.toString('latin1', 9, 12);
    if (status !== '101') {
      this.#socket.destroy();
      this.#broken(`the WebSocket handshake was answered with ${status}`);
      return bytes.length;
    }
    this.#state = 'open';
    const body = this.#unsent;
    this.#unsent = undefined;
    if (body) this.#create(body);
    return end + headEnd.length;
  }

  /** Gives the position after the frame; `from` if it isn't complete. */
  #readFrame(bytes: Buffer, from: number): number {
    const left = bytes.length - from;
    const short = (bytes[from + 1] ?? 0) & 0x7f;
    const headBytes = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (left < 2 || left < headBytes) return from;
    const start = from + headBytes;
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(from + 2) : Number(bytes.readBigUInt64BE(from + 2));
    const end = start + length;
    if (end > bytes.length) return from;
    const [first = 0] = bytes.subarray(from, from + 1);
    this.#take(first & 0x0f, (first & 0x80) !== 0, bytes.subarray(start, end));
    return end;
  }

  #take(opcode: number, isFinal: boolean, payload: Buffer): void {
    if (opcode === opcodes.ping) this.#write(opcodes.pong, [Buffer.from(payload)]);
    else if (opcode === opcodes.close) {
      this.#socket.destroy();
      this.#broken('the server closed the connection');
    } else if (opcode === opcodes.pong) return;
    else if (isFinal && this.#fragments.length === 0) this.#message(payload);
    else {
      this.#fragments.push(Buffer.from(payload));
      if (isFinal) this.#message(Buffer.concat(this.#fragments.splice(0)));
    }
  }

  #message(text: Buffer): void {
    const sink = this.#sink;
    if (!sink) {
      this.#socket.destroy();
      this.#broken('a message came without a request');
      return;
    }
    if (this.#isFirst) sink.head(200);
    this.#isFirst = false;
    sink.body(Buffer.concat([recordOpening, text, recordEnd]));
    if (text.includes(textDelta) || !isLast(text)) return;
    this.#sink = undefined;
    sink.end();
  }
}

const createOpening = Buffer.from('{"type":"response.create",');
const recordOpening = Buffer.from('data: ');
const recordEnd = Buffer.from('\n\n');

/** What isn't JSON ends the answer, too: the check shows it. */
const isLast = (message: Buffer): boolean => {
  try {
    return lastTypes.has(parseAs<{ readonly type?: string }>(message.toString()).type ?? '');
  } catch {
    return true;
  }
};
