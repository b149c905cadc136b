import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { answeredSubprotocol } from '../access/subprotocol.ts';
import type { MessageEvents, MessageStream } from '../stream.ts';

/**
 * A request as the parser creates it. Node.js hands over the sockets of all requests that ask for an upgrade once there is a handler for
 * upgrades, also of those that ask for HTTP/2 and are served as they are. Only WebSocket handshakes count as such here.
 */
export class NodeRequest extends IncomingMessage {
  /** Set by the superclass's constructor, before fields of this class exist. */
  declare asksForUpgrade: unknown;

  get upgrade(): boolean {
    const { method, headers } = this;
    return this.asksForUpgrade === true && method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
  }

  set upgrade(asks: unknown) {
    this.asksForUpgrade = asks;
  }
}

/** The answer to a handshake that isn't accepted. It is the connection's last. */
export const refusalOf = (request: IncomingMessage, socket: Socket): ServerResponse => {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => {
    response.detachSocket(socket);
    socket.end(() => socket.destroy());
  });
  return response;
};

/** How long a client that has been sent everything may take to confirm the end of its connection, in milliseconds. */
const closeMs = 1000;

/** Bytes of a client's ping or pong beside its content. */
const controlHeadBytes = 6;

/** Accepts WebSocket handshakes. */
export class NodeSockets {
  readonly #server: WebSocketServer;

  constructor(maxPayload: number) {
    this.#server = new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload },
      handleProtocols: (_, { headers }) => answeredSubprotocol(headers['sec-websocket-protocol']),
    });
  }

  /** `head`: what the client has sent after the handshake. */
  accept(request: IncomingMessage, socket: Socket, head: Buffer, open: (socket: MessageStream) => MessageEvents): void {
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const events = open(new NodeSocket(ws, socket));
      ws.on('message', (data: Buffer, isBinary) => events.message(data, isBinary));
      socket.prependListener('data', (chunk: Buffer) => events.received(chunk.length));
      // Control frames are no part of a message.
      const controlled = (content: Buffer) => events.received(-content.length - controlHeadBytes);
      ws.on('pong', (content: Buffer) => {
        controlled(content);
        events.alive();
      });
      ws.on('ping', (content: Buffer) => {
        controlled(content);
        events.pinged(content.length);
      });
      ws.on('close', () => events.closed());
      // An error in a client's frames ends the connection, with the code for it.
      ws.on('error', () => undefined);
      socket.on('drain', () => events.writable());
    });
  }
}

/** A WebSocket connection on `node:http`. */
class NodeSocket implements MessageStream {
  readonly countsBytes = true;
  readonly #ws: WebSocket;
  readonly #socket: Socket;

  constructor(ws: WebSocket, socket: Socket) {
    this.#ws = ws;
    this.#socket = socket;
  }

  send(text: string | Uint8Array): boolean {
    this.#ws.send(text, { binary: false });
    return this.#socket.writableLength < this.#socket.writableHighWaterMark;
  }

  bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  cork(act: () => void): void {
    this.#socket.cork();
    act();
    this.#socket.uncork();
  }

  ping(): void {
    this.#ws.ping();
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
    if (this.bufferedBytes() > 0) return;
    // The library would wait for longer, and hold what has come of a message.
    const timer = setTimeout(() => this.#ws.terminate(), closeMs).unref();
    this.#ws.once('close', () => clearTimeout(timer));
  }

  terminate(): void {
    this.#ws.terminate();
  }
}
