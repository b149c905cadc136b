import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { errorCode } from '../model/fault.ts';
import { openSocket, type SocketTarget } from './open-socket.ts';
import { proxyCredentials } from './proxy.ts';

/** The used part of an HTTP client. */
export interface HttpClient {
  readonly dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => boolean;
  readonly destroy: () => Promise<void>;
}

/** Opens an HTTP client for one connection, which it opens by `options.connect` on its first use. `lost`: its socket has closed. */
export type OpenClient = (origin: string, options: Client.Options, lost: (error: Error) => void) => HttpClient;

/** Opens undici's. */
export const openUndici: OpenClient = (origin, options, lost) =>
  new Client(origin, options).on('disconnect', (_origin, _targets, error) => lost(error));

/** Default keep-alive of an idle connection, in milliseconds. */
const keepAliveMs = 30_000;

/** Maximum safety margin before the upstream closes an idle connection, in milliseconds. */
const marginMs = 1000;

/** `afterMs`, when the upstream closes an idle connection, less a margin for a call that is on its way then. */
const usableMs = (afterMs: number): number => afterMs - Math.min(marginMs, afterMs / 4);

/**
 * One connection to an upstream, used by one call at a time. Connects on first use.
 *
 * What an update of undici, pinned to 7.30.2, must be checked for: `CallHandler` has the older form of its callbacks, which costs
 * less per call and chunk and is missing from undici 8; `EndGate` relies on the `end` event, `ContinueFilter` on `socket.read()`
 * as the only way in which the client learns of the end and reads; `renameReset` and `callFault` know codes and messages.
 */
export class Connection {
  readonly #client: HttpClient;
  readonly #target: SocketTarget;
  #socket: Socket | undefined;
  #served: Socket | undefined;
  #gate: EndGate | undefined;
  /** For the answer whose head is awaited. */
  #filter = new ContinueFilter();
  #giveUp: (() => void) | undefined;
  #idleSinceMs = 0;
  #idleMs = 0;
  #reads = 0;
  /** The upstream's keep-alive timeout. */
  #keptMs = Number.POSITIVE_INFINITY;

  /** `lost` is called each time the socket closes: by the upstream or the network, or after being idle for too long. */
  constructor(
    target: SocketTarget,
    openClient: OpenClient,
    lost: (connection: Connection, byUpstream: boolean) => void,
  ) {
    this.#target = target;
    const options: Client.Options = {
      pipelining: 1,
      allowH2: false,
      maxResponseSize: -1,
      maxHeaderSize: 65_536,
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: marginMs,
      connect: (_options, connected) => {
        this.#giveUp = openSocket(target, (outcome) => {
          this.#giveUp = undefined;
          if (outcome instanceof Error) return connected(outcome, null);
          this.#socket = outcome.on('error', renameReset);
          this.#gate = new EndGate(outcome);
          this.#watchReads(outcome);
          connected(null, outcome);
        });
      },
    };
    this.#client = openClient(target.url.origin, options, (error) => lost(this, errorCode(error) !== 'UND_ERR_INFO'));
  }

  /** The socket has served a call before, so the upstream may have closed it meanwhile. */
  get reused(): boolean {
    return this.#socket !== undefined && this.#socket === this.#served;
  }

  /** Can serve another call. */
  get usable(): boolean {
    return this.#socket?.destroyed === false;
  }

  /** Since when it has been idle, by the pool's clock. */
  get idleSinceMs(): number {
    return this.#idleSinceMs;
  }

  /** Idle time before its current call. */
  get idleMs(): number {
    return this.#idleMs;
  }

  /** Changes whenever something is read. */
  get reads(): number {
    return this.#reads;
  }

  /** No byte of an answer to the current call has come. */
  get silent(): boolean {
    return this.#filter.untouched;
  }

  /** Whether an idle connection is likely to be open still. `closedAfterMs`: how long the upstream was seen to keep one. */
  canServe(nowMs: number, closedAfterMs: number): boolean {
    this.#idleMs = nowMs - this.#idleSinceMs;
    // A burst may come before the timers by which undici closes what is too old.
    return this.#idleMs < usableMs(Math.min(this.#keptMs, closedAfterMs));
  }

  /** Reads an answer's `keep-alive` header. Source: RFC 2068, section 19.7.1.1. */
  readKeepAlive(header: string | undefined): void {
    const timeout = header === undefined ? undefined : /timeout=(\d{1,9})/i.exec(header)?.[1];
    this.#keptMs = timeout === undefined ? Number.POSITIVE_INFINITY : Number(timeout) * 1000;
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
    this.#gate?.close();
  }

  /** `readOn` makes undici read on. */
  resume(readOn: () => void): void {
    this.#gate?.open(readOn);
  }

  /** Called after a successful call. Releases the gate, since the body may have been paused at its end. */
  markServed(nowMs: number): void {
    this.#gate?.open(nothing);
    this.#served = this.#socket;
    this.#idleSinceMs = nowMs;
  }

  /** Counts what is read, and shows it to the filter first. */
  #watchReads(socket: Socket): void {
    const read: (size?: number) => unknown = socket.read;
    socket.read = (size) => {
      const piece = read.call(socket, size);
      if (piece instanceof Uint8Array) {
        this.#reads += 1;
        this.#filter.pass(piece);
      }
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

const zero = 0x30;
const one = 0x31;
const three = 0x33;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

/** The offset of the status in `HTTP/1.1 100 Continue`. */
const statusAt = 9;

/**
 * Changes an interim status 100 to 103 before undici sees it. Both mean "wait", but undici 7.30.2 closes the connection at an
 * unsolicited 100. Works on the head of one response, in pieces of any size.
 * Source: RFC 9110, section 15.2 (clients must accept unsolicited interim responses).
 */
export class ContinueFilter {
  #state: 'status' | 'head' | 'done' = 'status';
  /** Bytes of the status line so far, up to its status. */
  #at = 0;
  #tens = 0;
  /** Bytes of the current line of an interim head, without its end. */
  #lineBytes = 0;

  /** Nothing has been read. */
  untouched = true;

  /** Reads the next piece and may change it in place. */
  pass(piece: Uint8Array): void {
    if (piece.length > 0) this.untouched = false;
    for (let index = 0; this.#state !== 'done' && index < piece.length; index += 1) {
      const byte = piece[index] ?? 0;
      if (this.#state === 'head') this.#inHead(byte);
      else if (this.#isContinue(byte)) piece[index] = three;
    }
  }

  /** Reads a byte of the status line; returns whether it is the last digit of a 100. */
  #isContinue(byte: number): boolean {
    const at = this.#at - statusAt;
    this.#at += 1;
    if (at === 0 && byte !== one) this.#state = 'done';
    if (at === 1) this.#tens = byte;
    if (at !== 2) return false;
    this.#state = 'head';
    this.#lineBytes = this.#at;
    return this.#tens === zero && byte === zero;
  }

  /** Reads a byte of an interim head; another head follows after its empty line. */
  #inHead(byte: number): void {
    if (byte === lineFeed && this.#lineBytes === 0) {
      this.#state = 'status';
      this.#at = 0;
    } else if (byte === lineFeed) this.#lineBytes = 0;
    else if (byte !== carriageReturn) this.#lineBytes += 1;
  }
}

/**
 * Withholds the peer's end of a socket from undici while the body is paused. undici 7.30.2 can't handle an end then: depending
 * on the answer's head it throws from the socket's event, which can't be caught, or treats a complete answer as cut. The socket
 * must have `allowHalfOpen`. Source: nodejs/undici, issue 5360.
 */
class EndGate {
  readonly #socket: Socket;
  readonly #emit: (event: string | symbol, ...values: unknown[]) => boolean;
  #closed = false;
  #ended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#emit = socket.emit;
    socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
      if (event === 'end') return this.#end();
      return this.#emit.call(socket, event, ...values);
    };
  }

  close(): void {
    this.#closed = true;
  }

  /** Runs `resume`, which makes undici read on, then emits a withheld end, unless the body is paused again. */
  open(resume: () => void): void {
    this.#closed = false;
    resume();
    if (this.#ended) this.#end();
  }

  #end(): boolean {
    this.#ended = true;
    if (this.#closed || this.#socket.destroyed) return true;
    this.#ended = false;
    this.#emit.call(this.#socket, 'end');
    this.#socket.end();
    return true;
  }
}
