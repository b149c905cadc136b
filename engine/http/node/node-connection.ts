import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { shortAddress } from '../host-name.ts';
import type { HttpServerEvents, HttpStream } from '../stream.ts';
import { NodeStream } from './node-stream.ts';

/** Unread bodies must arrive at this rate, in bytes per second … */
const restBytesPerSecond = 16 * 1024;
/** … measured over windows of this length, in milliseconds. */
const restWindowMs = 10_000;

/** Requests that may wait on a connection while an earlier one is answered. Node.js stops reading at the body of the first. */
const maxWaiting = 16;

/** Accepts a WebSocket handshake, as `HttpStream` describes it. */
type AcceptHandshake = NonNullable<HttpStream['upgrade']>;

/** A connection, whose requests are served one after the other. */
export class NodeConnection {
  readonly remoteAddress: string;
  readonly #socket: Socket;
  #active: NodeStream | undefined;
  /** Requests that came behind the active one. */
  #waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    this.remoteAddress = addressOf(socket);
    // A client that sends no more has left: without this, the answer would go on until it is refused.
    socket.on('end', () => {
      if (this.#active) socket.destroy();
    });
  }

  /** Whether a request's answer has begun, or is all that is missing. */
  get isAnswering(): boolean {
    return this.#active?.isAnswering === true;
  }

  /**
   * Calls `begin` once earlier requests are answered. If that takes longer than this tick of the event loop, the connection is
   * closed if there are too many of them.
   */
  take(begin: () => void): void {
    if (!this.#active) {
      begin();
      return;
    }
    if (this.#waiting.push(begin) !== maxWaiting + 1) return;
    setImmediate(() => {
      if (this.#waiting.length > maxWaiting) this.#socket.destroy();
    });
  }

  /** `accept`: what accepts the WebSocket handshake that the request is. */
  begin(request: IncomingMessage, response: ServerResponse, events: HttpServerEvents, accept?: AcceptHandshake): void {
    const upgrade: AcceptHandshake | undefined =
      accept &&
      ((open) => {
        this.#active = undefined;
        accept(open);
      });
    const stream = new NodeStream(request, response, this.remoteAddress, () => this.#answered(request), upgrade);
    this.#active = stream;
    events.requested(stream);
  }

  closed(): void {
    this.#waiting = [];
    const active = this.#active;
    this.#active = undefined;
    active?.closed();
  }

  /** There was no progress for this time. Active requests have limits of their own. */
  idle(ms: number): void {
    if (this.#active) this.#socket.setTimeout(ms);
    else this.#socket.destroy();
  }

  #answered(request: IncomingMessage): void {
    this.#active = undefined;
    if (!request.complete) this.#awaitRest(request);
    // Deferred: many requests in one packet would otherwise be answered one inside the other.
    if (this.#waiting.length > 0) process.nextTick(() => this.#next());
  }

  #next(): void {
    if (this.#active || this.#socket.destroyed) return;
    this.#waiting.shift()?.();
    if (!this.#active && this.#waiting.length > 0) process.nextTick(() => this.#next());
  }

  /** Closes the connection if the rest of an unread body comes too slowly. */
  #awaitRest(request: IncomingMessage): void {
    const socket = this.#socket;
    let before = socket.bytesRead;
    const timer = setInterval(() => {
      if (request.complete || socket.destroyed) clearInterval(timer);
      else if ((socket.bytesRead - before) * 1000 < restBytesPerSecond * restWindowMs) socket.destroy();
      before = socket.bytesRead;
    }, restWindowMs).unref();
  }
}

/** The client's address as text; mapped IPv4 in dotted form. */
const addressOf = ({ remoteAddress = '' }: Socket): string => {
  const [address = ''] = remoteAddress.split('%');
  return address.startsWith('::ffff:') ? shortAddress(address) : address;
};
