import type { MessageEvents, MessageStream } from '../stream.ts';
import type { UwsBehavior, UwsContext, UwsRequest, UwsResponse, UwsWebSocket } from './uws.ts';

/** User data that the library attaches to a native WebSocket. It copies the members. */
interface SocketData {
  readonly socket: UwsSocket;
}

/** A WebSocket connection on uWebSockets.js. */
class UwsSocket implements MessageStream {
  readonly countsBytes = false;
  readonly #open: (socket: MessageStream) => MessageEvents;
  #ws: UwsWebSocket<SocketData> | undefined;
  #events: MessageEvents | undefined;

  constructor(open: (socket: MessageStream) => MessageEvents) {
    this.#open = open;
  }

  opened(ws: UwsWebSocket<SocketData>): void {
    this.#ws = ws;
    this.#events = this.#open(this);
  }

  get events(): MessageEvents | undefined {
    return this.#events;
  }

  closed(): void {
    this.#ws = undefined;
    this.#events?.closed();
  }

  send(text: string | Uint8Array): boolean {
    // 0: it is queued. Nothing is dropped, since there is no limit on what is queued.
    return this.#ws?.send(text, false) === 1;
  }

  bufferedBytes(): number {
    return this.#ws?.getBufferedAmount() ?? 0;
  }

  cork(act: () => void): void {
    this.#ws?.cork(act);
  }

  ping(): void {
    this.#ws?.ping();
  }

  close(code: number, reason: string): void {
    this.#ws?.end(code, reason);
  }

  terminate(): void {
    this.#ws?.close();
  }
}

/** The data with which a handshake is accepted. `open` is called during that. */
export const socketData = (open: (socket: MessageStream) => MessageEvents): SocketData => ({
  socket: new UwsSocket(open),
});

/** The library's WebSocket behaviour. The listener has its own timeouts, pings and queue limits. */
export const uwsSockets = (
  maxPayloadLength: number,
  requested: (res: UwsResponse, req: UwsRequest, context: UwsContext) => void,
  closed: () => void,
): UwsBehavior<SocketData> => ({
  maxPayloadLength,
  idleTimeout: 0,
  maxBackpressure: 0,
  sendPingsAutomatically: false,
  upgrade: requested,
  open: (ws) => ws.getUserData().socket.opened(ws),
  message: (ws, message, isBinary) => ws.getUserData().socket.events?.message(new Uint8Array(message), isBinary),
  drain: (ws) => ws.getUserData().socket.events?.writable(),
  ping: (ws, content) => ws.getUserData().socket.events?.pinged(content.byteLength),
  pong: (ws) => ws.getUserData().socket.events?.alive(),
  close(ws) {
    ws.getUserData().socket.closed();
    closed();
  },
});
