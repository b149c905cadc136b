import { WebSocket } from 'ws';
import type { SteadyClock } from '../../runtime/steady-clock.ts';
import type { Chain } from './chain.ts';

/** How often an idle connection is probed, in milliseconds: proxies close what is silent for a minute. */
const pingMs = 30_000;

/** How long an idle connection is kept, in milliseconds: as long as a tool may take. */
const idleMs = 600_000;

/** How long a connection is used, in milliseconds. OpenAI closes one after 60 minutes. */
const lifetimeMs = { least: 50 * 60_000, most: 58 * 60_000 };

/** How long an upstream may take to confirm the end of an idle connection, in milliseconds. */
const closeMs = 1000;

/** The response that a connection is bringing. */
export interface SocketUser {
  readonly onMessage: (message: Buffer, isBinary: boolean) => void;
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
  /** Something came since the last probe. */
  #isAlive = true;
  #stopProbe: () => void;
  /** What the vendor remembers of its latest response here. */
  chain: Chain | undefined;
  /** A response has been served. */
  reused = false;

  constructor(webSocket: WebSocket, clock: SteadyClock, lost: (connection: SocketConnection) => void) {
    this.#webSocket = webSocket;
    this.#clock = clock;
    this.#lost = lost;
    this.#idleSinceMs = clock.nowMs();
    const { least, most } = lifetimeMs;
    this.#untilMs = this.#idleSinceMs + least + Math.random() * (most - least);
    this.#stopProbe = clock.after(pingMs, () => this.#probe());
    let failure: Error | undefined;
    webSocket
      .on('message', (data, isBinary) => this.#onMessage(data, isBinary))
      .on('pong', () => {
        this.#isAlive = true;
      })
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

  /** Whether another response may begin. */
  get isUsable(): boolean {
    return this.isIdle && this.#webSocket.readyState === WebSocket.OPEN && this.#clock.nowMs() < this.#untilMs;
  }

  /** Something was read since the latest `ping`. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Begins a response. */
  send(message: string, user: SocketUser): void {
    this.#user = user;
    this.#stopProbe();
    // An error comes as an event.
    this.#webSocket.send(message, () => {});
  }

  /** The response is complete; the connection is idle. */
  release(chain: Chain | undefined): void {
    this.#user = undefined;
    this.chain = chain;
    this.reused = true;
    this.#idleSinceMs = this.#clock.nowMs();
    this.#isAlive = true;
    this.resume();
    this.#stopProbe = this.#clock.after(pingMs, () => this.#probe());
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  /** Asks the upstream for a sign of life. */
  ping(): void {
    this.#isAlive = false;
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#webSocket.ping();
  }

  /** After a sleep. */
  wake(): void {
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

  #onMessage(data: WebSocket.RawData, isBinary: boolean): void {
    this.#isAlive = true;
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
