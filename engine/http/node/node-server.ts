import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorCode } from '../../model/fault.ts';
import type { HttpServer, HttpServerEvents } from '../stream.ts';
import { NodeConnection } from './node-connection.ts';
import { NodeRequest, NodeSockets, refusalOf } from './node-socket.ts';

/** Maximum size of a request head in bytes. */
const maxHeadBytes = 65_536;
/** Maximum number of headers of a request. */
const maxHeaders = 100;
/** The longest time for a request's head, and for a connection without any progress, in milliseconds. */
const idleMs = 10_000;

const limits = {
  maxHeaderSize: maxHeadBytes,
  headersTimeout: idleMs,
  keepAliveTimeout: idleMs,
  connectionsCheckingInterval: 2_000,
  // The listener has its own limits on bodies.
  requestTimeout: 0,
  insecureHTTPParser: false,
  // Heads are checked here, so that a second host is rejected too.
  requireHostHeader: false,
} as const;

/** The server on `node:http`. It has the limits of the one on uWebSockets.js, and answers malformed requests as that one does; but it serves HTTP/1.0. */
export class NodeServer implements HttpServer {
  readonly #events: HttpServerEvents;
  readonly #connections = new Map<Duplex, NodeConnection>();
  readonly #sockets: NodeSockets;
  #servers: Server[] = [];

  constructor(events: HttpServerEvents) {
    this.#events = events;
    this.#sockets = new NodeSockets(events.maxMessageBytes);
  }

  listen(host: string, port: number, shared: boolean): Promise<number | undefined> {
    const server = createServer({ ...limits, IncomingMessage: NodeRequest });
    // Node.js would drop further headers silently.
    server.maxHeadersCount = 0;
    server.timeout = idleMs;
    server.on('connection', (socket) => this.#connected(socket));
    server.on('request', (request, response) => this.#requested(request, response));
    server.on('checkExpectation', (request, response) => this.#requested(request, response));
    server.on('upgrade', (request, socket: Socket, head) => this.#upgradeAsked(request, socket, head));
    server.on('clientError', (error, socket) => this.#malformed(error, socket));
    server.on('timeout', (socket: Socket) => this.#connections.get(socket)?.idle(idleMs));
    return new Promise((resolve) => {
      server.on('error', () => resolve(undefined));
      // Not exclusive: worker processes share the port through their supervisor's.
      server.listen({ host, port, exclusive: !shared }, () => {
        this.#servers.push(server);
        const address = server.address();
        resolve(typeof address === 'object' && address ? address.port : undefined);
      });
    });
  }

  stopAccepting(): void {
    // The http server's own method would close idle connections too.
    for (const server of this.#servers) NetServer.prototype.close.call(server);
  }

  close(): void {
    for (const server of this.#servers.splice(0)) server.close();
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  #connected(socket: Socket): void {
    const connection = new NodeConnection(socket);
    this.#connections.set(socket, connection);
    socket.on('close', () => {
      this.#connections.delete(socket);
      connection.closed();
      this.#events.closed();
    });
    if (!this.#events.opened(connection.remoteAddress)) socket.destroy();
  }

  #requested(request: IncomingMessage, response: ServerResponse): void {
    // Nothing is reported for a connection that is being closed.
    response.on('error', () => undefined);
    this.#connections.get(request.socket)?.take(() => this.#begin(request, response));
  }

  /** Node.js no longer reads requests from such a connection. */
  #upgradeAsked(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const connection = this.#connections.get(socket);
    connection?.take(() => {
      const response = refusalOf(request, socket);
      const status = headFault(request);
      if (status !== undefined) {
        response.writeHead(status, ['connection', 'close', 'content-length', '0']).end();
        return;
      }
      connection.begin(request, response, this.#events, (open) => {
        response.detachSocket(socket);
        this.#sockets.accept(request, socket, head, open);
      });
    });
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const status = headFault(request);
    // Such a client waits for the connection's end, unless it is told otherwise.
    if (request.httpVersion === '1.0') response.shouldKeepAlive = false;
    if (status === undefined) this.#connections.get(request.socket)?.begin(request, response, this.#events);
    else response.writeHead(status, ['connection', 'close', 'content-length', '0']).end();
  }

  #malformed(error: Error, socket: Duplex): void {
    const code = errorCode(error);
    const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
    const isParsed = code?.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE';
    if (!isParsed || !socket.writable || this.#connections.get(socket)?.isAnswering) socket.destroy();
    else {
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
        socket.destroy(),
      );
    }
  }
}

/** The status with which a request is rejected for its head alone. */
const headFault = ({ httpVersion, rawHeaders }: IncomingMessage): number | undefined => {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 505;
  if (rawHeaders.length > 2 * maxHeaders) return 431;
  let hosts = 0;
  let encodings = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase();
    if (name === 'host') hosts += 1;
    else if (name === 'transfer-encoding') encodings += 1;
  }
  if (httpVersion === '1.1') return hosts === 1 ? undefined : 400;
  // HTTP/1.0 has no chunks: a proxy may see another end of such a request. Source: RFC 9112, section 6.1.
  return hosts > 1 || encodings > 0 ? 400 : undefined;
};
