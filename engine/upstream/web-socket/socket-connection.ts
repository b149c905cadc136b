import { WebSocket } from 'ws';
import type { SocketChain } from '../../model/wire/upstream-socket.ts';
import type { SteadyClock } from '../../runtime/steady-clock.ts';
import type { OpenedWebSocket } from './open-web-socket.ts';

/** How often an idle connection is probed, in milliseconds: proxies close what is silent for a minute. */
const pingMs = 30_000;

/** How long an idle connection is kept, in milliseconds: as long as a tool may take. */
const idleMs = 600_000;

/** How long a connection is used, in milliseconds. OpenAI closes one after 60 minutes. */
const lifetimeMs = { least: 50 * 60_000, most: 58 * 60_000 };

/** How long an upstream may take to confirm the end of an idle connection, in milliseconds. */
const closeMs = 1000;

/** How long nothing may come or leave, though the upstream is pinged, in milliseconds. */
export const aliveMs = 20_000;

/** Bytes per second at which a request leaves at least. How much of a large one has left isn't known before all of it has. */
const leastBytesPerSecond = 16 * 1024;

/** Bytes of an incomplete message that an idle connection may bring: vendors send notices then, at most. */
const maxIdleBytes = 64 * 1024;

/** Bytes of a ping or pong beside its content. */
const controlHeadBytes = 2;

/** The response that a connection is bringing. */
export interface SocketUser {
  readonly onMessage: (message: Buffer, isBinary: boolean) => void;
  /** So many bytes have come of a message that isn't complete. */
  readonly onIncomplete: (bytes: number) => void;
  /** The connection is gone, or what it brought isn't WebSocket. */
  readonly onLost: (error?: Error) => void;
  /** The machine slept. */
  readonly onWake: () => void;
}

/** One open WebSocket to an upstream, used by one response at a time. */
export class SocketConnection {
  readonly #webSocket: WebSocket;
  readonly #clock: SteadyClock;
  readonly #untilMs: number;
  readonly #lost: (connection: SocketConnection) => void;
  #user: SocketUser | undefined;
  #idleSinceMs: number;
  /** Something came since the latest ping. */
  #isAlive = true;
  #movedMs: number;
  /** Bytes that came of a message that isn't complete. */
  #incompleteBytes = 0;
  #stopProbe: () => void;
  /** What the vendor remembers of its latest response here. */
  chain: SocketChain | undefined;
  /** A response has been served. */
  reused = false;

  constructor(
    { webSocket, socket }: OpenedWebSocket,
    clock: SteadyClock,
    lost: (connection: SocketConnection) => void,
  ) {
    this.#webSocket = webSocket;
    this.#clock = clock;
    this.#lost = lost;
    this.#idleSinceMs = clock.nowMs();
    this.#movedMs = this.#idleSinceMs;
    // Before the library reads them, which may complete a message.
    socket.prependListener('data', (chunk: Buffer) => this.#received(chunk.length));
    const { least, most } = lifetimeMs;
    this.#untilMs = this.#idleSinceMs + least + Math.random() * (most - least);
    this.#stopProbe = clock.after(pingMs, () => this.#probe());
    let failure: Error | undefined;
    webSocket
      .on('message', (data, isBinary) => this.#onMessage(data, isBinary))
      .on('ping', (content) => this.#onControl(content))
      .on('pong', (content) => this.#onControl(content))
      .on('error', (error) => {
        failure = error;
      })
      .once('close', () => this.#onClose(failure));
  }

  get isIdle(): boolean {
    return this.#user === undefined;
  }

  get idleSinceMs(): number {
    return this.#idleSinceMs;
  }

  /** Whether another response may begin: no ping is unanswered. */
  get isUsable(): boolean {
    const isOpen = this.#webSocket.readyState === WebSocket.OPEN;
    return this.isIdle && this.#isAlive && isOpen && this.#clock.nowMs() < this.#untilMs;
  }

  /** When something came or left last. */
  get movedMs(): number {
    return this.#movedMs;
  }

  /** How long nothing has come or left, in milliseconds. */
  get silentMs(): number {
    return this.#clock.nowMs() - this.#movedMs;
  }

  /** Whether nothing has come or left for too long. */
  get isDead(): boolean {
    return this.silentMs >= aliveMs + (this.#webSocket.bufferedAmount / leastBytesPerSecond) * 1000;
  }

  /** Begins a response. */
  send(message: string, user: SocketUser): void {
    this.#user = user;
    this.#stopProbe();
    this.moved();
    // An error comes as an event.
    this.#webSocket.send(message, () => this.moved());
  }

  /** The response is complete; the connection is idle. */
  release(chain: SocketChain | undefined): void {
    this.#user = undefined;
    this.chain = chain;
    this.reused = true;
    this.#idleSinceMs = this.#clock.nowMs();
    this.resume();
    this.#stopProbe = this.#clock.after(pingMs, () => this.#probe());
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  /** Counts as a sign of life. */
  moved(): void {
    this.#movedMs = this.#clock.nowMs();
  }

  /** Asks the upstream for a sign of life. */
  ping(): void {
    this.#isAlive = false;
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#webSocket.ping();
  }

  /** After a sleep. */
  wake(): void {
    this.moved();
    if (this.#user) this.#user.onWake();
    else this.close();
  }

  /** Ends an idle connection in order. */
  close(): void {
    this.#forget();
    this.#webSocket.close(1000);
    const stop = this.#clock.after(closeMs, () => this.#webSocket.terminate());
    this.#webSocket.once('close', stop);
  }

  /** Ends the connection at once: the only sign by which a vendor stops a response. */
  terminate(): void {
    this.#forget();
    this.#webSocket.terminate();
  }

  #forget(): void {
    this.#user = undefined;
    this.#stopProbe();
    this.#lost(this);
  }

  #received(bytes: number): void {
    this.#isAlive = true;
    this.moved();
    this.#incompleteBytes += bytes;
    if (this.#user) this.#user.onIncomplete(this.#incompleteBytes);
    else if (this.#incompleteBytes > maxIdleBytes) this.terminate();
  }

  /** Pings and pongs may come between the parts of a message. */
  #onControl(content: Buffer): void {
    this.#incompleteBytes = Math.max(0, this.#incompleteBytes - controlHeadBytes - content.length);
  }

  #onMessage(data: WebSocket.RawData, isBinary: boolean): void {
    this.#incompleteBytes = 0;
    // `nodebuffer`, the default, brings one buffer per message. Between responses, vendors send notices at most.
    if (Buffer.isBuffer(data)) this.#user?.onMessage(data, isBinary);
  }

  #onClose(failure: Error | undefined): void {
    const user = this.#user;
    this.#forget();
    user?.onLost(failure);
  }

  #probe(): void {
    const nowMs = this.#clock.nowMs();
    if (!this.#isAlive) this.terminate();
    else if (nowMs - this.#idleSinceMs >= idleMs || nowMs >= this.#untilMs) this.close();
    else {
      this.ping();
      this.#stopProbe = this.#clock.after(pingMs, () => this.#probe());
    }
  }
}
