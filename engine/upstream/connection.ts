import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { EndGate } from './end-gate.ts';
import { openSocket, type Target } from './open-socket.ts';
import { proxyCredentials } from './proxy.ts';

/** How long an idle connection is kept where the upstream doesn't say, in milliseconds. */
const keepAliveMs = 30_000;

/** One connection to an upstream, used by one call at a time. An undici client, so it connects when it is first used. */
export class Connection {
  readonly #client: Client;
  readonly #target: Target;
  #socket: Socket | undefined;
  #served: Socket | undefined;
  #gate: EndGate | undefined;
  #giveUp: (() => void) | undefined;

  /** `lost` is told each time that the socket has gone, whoever closed it. */
  constructor(target: Target, lost: (connection: Connection) => void) {
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
          connected(null, outcome);
        });
      },
    });
    this.#client.on('disconnect', () => lost(this));
  }

  /** The socket in use has served a call before, so the upstream may have been about to close it. */
  get reused(): boolean {
    return this.#socket !== undefined && this.#socket === this.#served;
  }

  /** Fit for a further call. */
  get usable(): boolean {
    return this.#socket?.destroyed === false;
  }

  /** Sends a request; what becomes of it goes to the handler. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const { url, proxy } = this.#target;
    if (proxy === undefined || url.protocol === 'https:') this.#client.dispatch(options, handler);
    else this.#client.dispatch(forProxy(options, url, proxy), handler);
  }

  /** Holds the body back from the next chunk on. */
  pause(controller: Dispatcher.DispatchController): void {
    this.#gate?.hold();
    controller.pause();
  }

  resume(controller: Dispatcher.DispatchController): void {
    this.#gate?.release(() => controller.resume());
  }

  /** A call has ended well. Its body may have been held back when the last it had to bring was its end. */
  markServed(): void {
    this.#gate?.release(() => {});
    this.#served = this.#socket;
  }

  /** Closes the socket at once, also while it is being opened. Calls on it get nothing more that matters. */
  destroy(): void {
    this.#giveUp?.();
    void this.#client.destroy();
  }
}

/**
 * Gives a reset another code before undici sees it. By ECONNRESET, when the answer's head said `connection: close`, undici
 * 7.30.2 takes an answer without a length for complete, and throws as `EndGate` tells when the body is held back.
 */
const renameReset = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'ECONNRESET') error.code = 'ECONNABORTED';
};

/** A plain request as a proxy wants it. Source: RFC 9112, section 3.2.2 (absolute-form). */
const forProxy = (options: Dispatcher.DispatchOptions, url: URL, proxy: URL): Dispatcher.DispatchOptions => {
  const credentials = proxyCredentials(proxy);
  return {
    ...options,
    path: url.origin + options.path,
    headers: { ...options.headers, ...(credentials !== undefined && { 'proxy-authorization': credentials }) },
  };
};
