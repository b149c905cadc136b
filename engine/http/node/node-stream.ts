import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { handshakeHeaders } from '../access/subprotocol.ts';
import type { HeaderList } from '../endpoint.ts';
import { isAscii } from '../headers.ts';
import type { BodyConsumer, HttpStream, StreamWriter } from '../stream.ts';

/** Large bodies are written in pieces of this size. */
const pieceBytes = 256 * 1024;
const noBytes = new Uint8Array(0);

/** A request and its answer on `node:http`. */
export class NodeStream implements HttpStream {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderList;
  readonly remoteAddress: string;
  readonly upgrade: HttpStream['upgrade'];
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #answered: () => void;
  #aborted: (() => void) | undefined;
  #status = 200;
  /** The answer's headers until they are sent. */
  #head: string[] | undefined;
  /** Notified when the client's socket has room again. */
  #writer: StreamWriter | undefined;
  /** The unsent rest of the body of `send`. */
  #rest: Uint8Array | undefined;

  /** `answered` is called at the answer's end. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    remoteAddress: string,
    answered: () => void,
    upgrade: HttpStream['upgrade'],
  ) {
    const { method = '', url = '', rawHeaders, socket } = request;
    const mark = url.indexOf('?');
    this.method = method;
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    const headers = rawHeaders.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text));
    this.headers = upgrade ? handshakeHeaders(headers) : headers;
    this.remoteAddress = remoteAddress;
    this.#request = request;
    this.#response = response;
    this.#socket = socket;
    this.#answered = answered;
    this.upgrade = upgrade;
    response.on('drain', () => this.#drained());
  }

  /** Whether the answer has begun, or is all that is missing. */
  get isAnswering(): boolean {
    return this.#request.complete || this.#response.headersSent;
  }

  /** The connection has closed. */
  closed(): void {
    this.#writer = undefined;
    this.#aborted?.();
  }

  /** Node.js doesn't know the PROXY protocol; it answers 400. */
  proxiedAddress(): string {
    return '';
  }

  onAborted(aborted: () => void): void {
    this.#aborted = aborted;
  }

  read(consumer: BodyConsumer): void {
    this.#request.on('data', (chunk: Buffer) => consumer.take(chunk, false));
    this.#request.on('end', () => consumer.take(noBytes, true));
  }

  /** Active requests have no timeouts here. */
  keepOpen(): void {}

  cork(act: () => void): void {
    this.#socket.cork();
    act();
    this.#socket.uncork();
  }

  writeHead(status: number, headers: HeaderList): void {
    this.#status = status;
    this.#head = [...headers];
  }

  write(data: string | Uint8Array, writer: StreamWriter): boolean {
    this.#sendHead();
    this.#response.write(data);
    if (this.#hasRoom) return true;
    // The socket's free space shows only once the data is passed to it.
    while (this.#socket.writableCorked > 0) this.#socket.uncork();
    if (this.#hasRoom) return true;
    this.#writer = writer;
    return false;
  }

  end(): void {
    this.#sendHead();
    this.#response.end();
    this.#answered();
  }

  endWith(body: string | Uint8Array, close: boolean): void {
    const head = this.#head ?? [];
    if (close) head.push('connection', 'close');
    // Node.js would encode the head as it does a text that follows.
    const bytes = typeof body === 'string' && !head.every(isAscii) ? Buffer.from(body) : body;
    head.push('content-length', String(Buffer.byteLength(bytes)));
    this.#sendHead();
    this.#response.end(bytes);
    this.#answered();
  }

  endWithoutBody(): void {
    this.end();
  }

  send(body: Uint8Array, writer: StreamWriter): boolean {
    this.#head?.push('content-length', String(body.length));
    this.#rest = body;
    return this.#sendRest(this.#rest, writer);
  }

  close(): void {
    this.#socket.destroy();
  }

  get #hasRoom(): boolean {
    return this.#response.writableLength < this.#response.writableHighWaterMark;
  }

  #sendHead(): void {
    const head = this.#head;
    if (!head) return;
    this.#head = undefined;
    // HTTP/1.1 keeps connections open without this header.
    if (!head.includes('connection')) this.#response.removeHeader('connection');
    this.#response.writeHead(this.#status, head);
  }

  #sendRest(rest: Uint8Array, writer: StreamWriter): boolean {
    for (let from = 0; from < rest.length; from += pieceBytes) {
      if (this.write(rest.subarray(from, from + pieceBytes), writer)) continue;
      this.#rest = rest.subarray(from + pieceBytes);
      return false;
    }
    this.end();
    return true;
  }

  #drained(): void {
    const writer = this.#writer;
    this.#writer = undefined;
    if (!writer) return;
    if (this.#rest) writer.writable(this.#sendRest(this.#rest, writer));
    else this.cork(() => writer.writable(false));
  }
}
