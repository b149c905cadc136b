import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { ContinueFilter } from './continue-filter.ts';
import { EndGate } from './end-gate.ts';
import { openSocket, type SocketTarget } from './open-socket.ts';
import { proxyCredentials } from './proxy.ts';

/** How long an idle connection is kept unless the upstream says otherwise, in milliseconds. */
const keepAliveMs = 30_000;

/**
 * One connection to an upstream, used by one call at a time. Connects on first use.
 *
 * What an update of undici, pinned to 7.30.2, must be checked for: `CallHandler` has the older form of its callbacks, which costs
 * less per call and chunk and is missing from undici 8; `EndGate` relies on the `end` event, `ContinueFilter` on `socket.read()`
 * as the only way in which the client learns of the end and reads; `renameReset` and `callFault` know codes and messages.
 */
export class Connection {
  readonly #client: Client;
  readonly #target: SocketTarget;
  #socket: Socket | undefined;
  #served: Socket | undefined;
  #gate: EndGate | undefined;
  /** For the answer whose head is awaited. */
  #filter = new ContinueFilter();
  #giveUp: (() => void) | undefined;

  /** `lost` is called each time the socket closes, on either side. */
  constructor(target: SocketTarget, lost: (connection: Connection) => void) {
    this.#target = target;
    this.#client = new Client(target.url.origin, {
      pipelining: 1,
      allowH2: false,
      maxResponseSize: -1,
      maxHeaderSize: 65_536,
      keepAliveTimeout: keepAliveMs,
      connect: (_options, connected) => {
        this.#giveUp = openSocket(target, (outcome) => {
          this.#giveUp = undefined;
          if (outcome instanceof Error) return connected(outcome, null);
          this.#socket = outcome.on('error', renameReset);
          this.#gate = new EndGate(outcome);
          this.#filterHeads(outcome);
          connected(null, outcome);
        });
      },
    });
    this.#client.on('disconnect', () => lost(this));
  }

  /** The socket has served a call before, so the upstream may have closed it meanwhile. */
  get reused(): boolean {
    return this.#socket !== undefined && this.#socket === this.#served;
  }

  /** Can serve another call. */
  get usable(): boolean {
    return this.#socket?.destroyed === false;
  }

  /** Sends a request. The handler receives the outcome. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const { url, proxy } = this.#target;
    this.#filter = new ContinueFilter();
    if (proxy === undefined || url.protocol === 'https:') this.#client.dispatch(options, handler);
    else this.#client.dispatch(forProxy(options, url, proxy), handler);
  }

  /** Withholds the socket's end while undici doesn't read. */
  pause(): void {
    this.#gate?.hold();
  }

  /** `readOn` makes undici read on. */
  resume(readOn: () => void): void {
    this.#gate?.release(readOn);
  }

  /** Called after a successful call. Releases the gate, since the body may have been paused at its end. */
  markServed(): void {
    this.#gate?.release(nothing);
    this.#served = this.#socket;
  }

  #filterHeads(socket: Socket): void {
    const read: (size?: number) => unknown = socket.read;
    socket.read = (size) => {
      const piece = read.call(socket, size);
      if (piece instanceof Uint8Array) this.#filter.pass(piece);
      return piece;
    };
  }

  /** Closes the socket at once, also while it is being opened. */
  destroy(): void {
    this.#giveUp?.();
    void this.#client.destroy();
  }
}

const nothing = (): void => {};

/**
 * Changes a reset's code before undici sees it. After ECONNRESET and `connection: close`, undici 7.30.2 treats an answer without
 * a length as complete, and throws if the body is paused (see `EndGate`).
 */
const renameReset = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'ECONNRESET') error.code = 'ECONNABORTED';
};

/** A plain HTTP request in the form for a proxy. Source: RFC 9112, section 3.2.2 (absolute-form). */
const forProxy = (options: Dispatcher.DispatchOptions, url: URL, proxy: URL): Dispatcher.DispatchOptions => {
  const credentials = proxyCredentials(proxy);
  return {
    ...options,
    path: url.origin + options.path,
    headers: { ...options.headers, ...(credentials !== undefined && { 'proxy-authorization': credentials }) },
  };
};
