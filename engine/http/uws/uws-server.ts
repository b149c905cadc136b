import { STATUS_CODES } from 'node:http';
import { answeredSubprotocol, handshakeHeaders } from '../access/subprotocol.ts';
import { addressText, headerValue, isAscii } from '../headers.ts';
import type {
  BodyConsumer,
  HttpServer,
  HttpServerEvents,
  HttpStream,
  MessageEvents,
  MessageStream,
  StreamWriter,
} from '../stream.ts';
import type { Uws, UwsApp, UwsContext, UwsListenSocket, UwsRequest, UwsResponse } from './uws.ts';
import { socketData, uwsSockets } from './uws-socket.ts';

/** The server on uWebSockets.js. */
export class UwsServer implements HttpServer {
  readonly #uws: Uws;
  readonly #app: UwsApp;
  #sockets: UwsListenSocket[] = [];

  constructor(uws: Uws, events: HttpServerEvents) {
    this.#uws = uws;
    const sockets = uwsSockets(
      events.maxMessageBytes,
      (res, req, context) => events.requested(new UwsStream(res, req, context)),
      () => events.closed(),
    );
    this.#app = uws
      .App()
      // Before all others: it takes handshakes alone.
      .ws('/*', sockets)
      .any('/*', (res, req) => events.requested(new UwsStream(res, req)))
      .filter((res, change) => (change < 0 ? events.closed() : admit(res, events)));
  }

  async listen(host: string, port: number, shared: boolean): Promise<number | undefined> {
    const { LIBUS_LISTEN_EXCLUSIVE_PORT, us_socket_local_port } = this.#uws;
    let opened: UwsListenSocket | undefined;
    // The callback runs synchronously.
    this.#app.listen(host, port, shared ? 0 : LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket) opened = socket;
    });
    if (!opened) return undefined;
    this.#sockets.push(opened);
    return us_socket_local_port(opened);
  }

  stopAccepting(): void {
    for (const socket of this.#sockets) this.#uws.us_listen_socket_close(socket);
    this.#sockets = [];
  }

  close(): void {
    this.#app.close();
    // Closed and freed by now.
    this.#sockets = [];
  }
}

class UwsStream implements HttpStream {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly string[];
  readonly remoteAddress: string;
  readonly #res: UwsResponse;
  #writer: StreamWriter | undefined;
  /** The body of `send`, and the write offset at which it begins. */
  #body: Uint8Array | undefined;
  #bodyFrom = 0;

  readonly upgrade: ((open: (socket: MessageStream) => MessageEvents) => void) | undefined;

  /** Copies the head: the native request is only valid while its handler runs. `context`: it is a WebSocket handshake. */
  constructor(res: UwsResponse, req: UwsRequest, context?: UwsContext) {
    const headers: string[] = [];
    req.forEach((name, value) => {
      headers.push(name, value);
    });
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    // Undefined without a question mark, contrary to the type declarations.
    this.query = req.getQuery() ?? '';
    this.headers = context ? handshakeHeaders(headers) : headers;
    this.remoteAddress = addressOf(res);
    this.#res = res;
    const offered = context && headerValue(headers, 'sec-websocket-protocol');
    this.upgrade = context && ((open) => this.#upgrade(open, answeredSubprotocol(offered), context));
  }

  #upgrade(open: (socket: MessageStream) => MessageEvents, subprotocol: string, context: UwsContext): void {
    // No extension: answers are small, and compressing each message costs memory per connection.
    const key = headerValue(this.headers, 'sec-websocket-key') ?? '';
    this.#res.cork(() => this.#res.upgrade(socketData(open), key, subprotocol, '', context));
  }

  proxiedAddress(): string {
    return addressText(this.#res.getProxiedRemoteAddress());
  }

  onAborted(aborted: () => void): void {
    this.#res.onAborted(aborted);
  }

  read(consumer: BodyConsumer): void {
    if (headerValue(this.headers, 'trailer') !== undefined) {
      consumer.lost('Trailers after a chunked body are not supported.');
      return;
    }
    const isChunked = headerValue(this.headers, 'transfer-encoding') !== undefined;
    const end = isChunked ? new MisreadEnd(consumer) : undefined;
    // The native buffer is only valid during the call. Small copies share a pool.
    this.#res.onData((chunk, isLast) => {
      const bytes = Buffer.from(chunk);
      end?.look(bytes, isLast);
      consumer.take(bytes, isLast);
    });
  }

  /** A connection is closed without an error when its client takes no data for 8 to 12 seconds, or sends less than 16 KiB per second. */
  keepOpen(): void {
    this.#res.pause();
    this.#res.resume();
  }

  cork(act: () => void): void {
    this.#res.cork(act);
  }

  writeHead(status: number, headers: readonly string[]): void {
    if (status !== 200) this.#res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`);
    for (let at = 0; at < headers.length; at += 2) this.#res.writeHeader(headers[at] ?? '', wireValue(headers[at + 1]));
  }

  write(data: string | Uint8Array, writer: StreamWriter): boolean {
    const taken = this.#res.write(data);
    if (!taken) this.#await(writer);
    return taken;
  }

  end(): void {
    // No `closeConnection` argument: uWebSockets.js would write its header in the middle of the data.
    this.#res.end();
  }

  endWith(body: string | Uint8Array, close: boolean): void {
    this.#res.end(body, close);
  }

  /** No length as an argument: the response would stay open, waiting for that many bytes. */
  endWithoutBody(): void {
    this.#res.endWithoutBody();
  }

  send(body: Uint8Array, writer: StreamWriter): boolean {
    this.#bodyFrom = this.#res.getWriteOffset();
    const [, complete] = this.#res.tryEnd(body, body.length);
    if (complete) return true;
    this.#body = body;
    this.#await(writer);
    return false;
  }

  close(): void {
    this.#res.close();
  }

  #await(writer: StreamWriter): void {
    if (!this.#writer) this.#res.onWritable((offset) => this.#writable(writer, offset));
    this.#writer = writer;
  }

  #writable(writer: StreamWriter, offset: number): boolean {
    if (!this.#body) {
      // With an `onWritable` handler, natively queued data is only sent with the next write or cork.
      this.#res.cork(() => writer.writable(false));
      return true;
    }
    const [taken, complete] = this.#res.tryEnd(this.#body.subarray(offset - this.#bodyFrom), this.#body.length);
    writer.writable(complete);
    return taken;
  }
}

/** The end of a chunked body: after the last chunk's line end, a chunk without content. */
const lastChunk = '\r\n0\r\n\r\n';

/** How long a body must stay silent after such bytes to be taken for misread, in milliseconds. */
const misreadMs = 200;

/**
 * Recognizes a chunked body whose end was misread. uWebSockets.js reads an extension of one or two letters (`5;a`) as part of the
 * chunk's size, so that the end becomes part of the content, and it waits for more. It refuses longer ones itself. Source:
 * uWebSockets, `ChunkedEncoding.h`, `consumeHexNumber`.
 */
class MisreadEnd {
  readonly #consumer: BodyConsumer;
  #last = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(consumer: BodyConsumer) {
    this.#consumer = consumer;
  }

  look(bytes: Buffer, isLast: boolean): void {
    clearTimeout(this.#timer);
    if (isLast) return;
    this.#last = (this.#last + bytes.toString('latin1', Math.max(0, bytes.length - lastChunk.length))).slice(
      -lastChunk.length,
    );
    if (this.#last !== lastChunk) return;
    const lost = () => this.#consumer.lost("Extensions of a chunked body's chunks are not supported.");
    this.#timer = setTimeout(lost, misreadMs).unref();
  }
}

const admit = (res: UwsResponse, events: HttpServerEvents): void => {
  if (!events.opened(addressOf(res))) res.close();
};

const addressOf = (res: UwsResponse): string => addressText(res.getRemoteAddress());

/** uWebSockets.js would encode text as UTF-8. */
const wireValue = (value = ''): string | Uint8Array => (isAscii(value) ? value : Buffer.from(value, 'latin1'));
