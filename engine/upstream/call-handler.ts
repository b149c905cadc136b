import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { Observable, type Subscriber } from 'rxjs';
import type { Dispatcher } from 'undici';
import type { Pausable } from '../backpressure.ts';
import type { Headers } from '../model/protocol.ts';
import type { Connection } from './connection.ts';
import { type DecompressLimits, plainAnswer } from './decompress.ts';
import { callFault, firstByteTimeout, isReset, poolFault } from './faults.ts';
import type { PoolLimits, UpstreamTimeouts } from './limits.ts';
import type { ConnectionPool, PoolRequest } from './pool.ts';
import type { UpstreamAnswer, UpstreamCall } from './upstreams.ts';

/**
 * A call is resent if its reused connection is reset within this time after sending, in milliseconds. An upstream that closed an
 * idle connection resets it within a round trip. After a later reset the upstream may already be at work, and charge for it.
 */
const staleMs = 1000;

/** From this many bytes on, a request's body is let go of before its answer has ended. */
const largeBytes = 128 * 1024;

/** How long the unneeded rest of a body may take before the connection is closed, in milliseconds. */
const drainMs = 1000;

/** The limits of calls: their timeouts, their number, the size of a decompressed answer. */
type CallLimits = UpstreamTimeouts & PoolLimits & DecompressLimits;

/** One upstream call. Passes undici's callbacks on to the subscribers of the call and of the answer's body. */
export class CallHandler implements Dispatcher.DispatchHandler, Pausable, PoolRequest {
  readonly #call: Omit<UpstreamCall, 'body'>;
  /** The request's body, for as long as it may be sent again. */
  #payload: string | Uint8Array | undefined;
  readonly #pool: ConnectionPool;
  readonly #limits: CallLimits;
  readonly #subscriber: Subscriber<UpstreamAnswer>;
  #body: Subscriber<Uint8Array> | undefined;
  #connection: Connection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** The error for a body that is subscribed too late. */
  #failure: Error | undefined;
  #sentAtMs = 0;
  #firstByteTimer: NodeJS.Timeout | undefined;
  #resent = false;
  #answered = false;
  #done = false;
  /** The rest of the body doesn't matter. */
  #complete = false;
  #drainTimer: NodeJS.Timeout | undefined;
  #payloadTimer: NodeJS.Timeout | undefined;

  constructor(
    { body, ...call }: UpstreamCall,
    pool: ConnectionPool,
    limits: CallLimits,
    subscriber: Subscriber<UpstreamAnswer>,
  ) {
    this.#call = call;
    this.#payload = body;
    this.#pool = pool;
    this.#limits = limits;
    this.#subscriber = subscriber;
  }

  /** Returns what ends the call at any stage; it holds nothing of the request. */
  start(): () => void {
    this.#pool.acquire(this);
    return () => this.#abandon();
  }

  #abandon(): void {
    if (this.#done) return;
    if (this.#complete) this.#drain();
    else this.#close();
  }

  #close(): void {
    if (this.#done) return;
    this.#failure = new Error('The body of an upstream answer was subscribed after its call had been given up.');
    this.#settle();
    this.#pool.withdraw(this);
    if (this.#connection) this.#pool.release(this.#connection, false);
    this.#subscriber.complete();
  }

  /** Reads the body to its end, for at most `drainMs`, to keep the connection. */
  #drain(): void {
    if (this.#body === undefined) return;
    this.#body = undefined;
    this.#call.backpressure.detach(this);
    // In a microtask, since the end has usually arrived with the last chunk.
    queueMicrotask(() => {
      if (this.#done) return;
      this.#drainTimer = setTimeout(() => this.#close(), drainMs);
      if (this.#controller) this.#connection?.resume(this.#controller);
    });
    this.#subscriber.complete();
  }

  pause(): void {
    if (this.#controller) this.#connection?.pause(this.#controller);
  }

  resume(): void {
    // In a microtask: this may run in an undici callback, and its parser, shared by all connections, isn't reentrant.
    queueMicrotask(() => {
      if (!this.#done && this.#flowing && this.#controller) this.#connection?.resume(this.#controller);
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // undici's own timer restarts with each interim response, of which there may be any number.
    clearTimeout(this.#firstByteTimer);
    this.#firstByteTimer = setTimeout(this.#giveUp, this.#limits.firstByteMs);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (this.#done || status < 200) return;
    this.#answered = true;
    this.#payload = undefined;
    clearTimeout(this.#firstByteTimer);
    clearTimeout(this.#payloadTimer);
    this.#call.backpressure.attach(this);
    const answer: UpstreamAnswer = {
      status,
      headers: joinValues(headers),
      body: new Observable((body) => this.#open(body)),
      drain: () => {
        this.#complete = true;
      },
    };
    this.#subscriber.next(plainAnswer(answer, this.#limits, this.#call.backpressure));
    if (!this.#flowing) this.pause();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici's parser emits an empty chunk when it resumes a body that ends with its connection.
    if (chunk.length > 0) this.#body?.next(chunk);
  }

  onResponseEnd(): void {
    if (this.#done) return;
    this.#settle();
    const connection = this.#connection;
    // In a microtask: undici ends the exchange only after this callback and would mix it up with the next.
    if (connection) queueMicrotask(() => this.#pool.release(connection, true));
    this.#body?.complete();
    this.#subscriber.complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#done) return;
    const connection = this.#connection;
    if (connection && this.#isStale(error)) {
      this.#resend(connection);
      return;
    }
    this.#settle();
    if (connection) this.#pool.release(connection, false);
    this.#failure = callFault(this.#call.url.host, error, this.#limits);
    if (this.#answered) this.#body?.error(this.#failure);
    else this.#subscriber.error(this.#failure);
    this.#subscriber.complete();
  }

  readonly onConnection = (connection: Connection): void => {
    const { method = 'POST', url, headers } = this.#call;
    this.#connection = connection;
    this.#sentAtMs = performance.now();
    const body = this.#takePayload(connection.reused && !this.#resent);
    connection.dispatch(
      {
        method,
        path: url.pathname + url.search,
        headers,
        body,
        headersTimeout: 0,
        bodyTimeout: this.#limits.idleMs,
      },
      this,
    );
  };

  /** Fails the call: no answer has come in time. */
  readonly #giveUp = (): void => {
    const { host } = this.#call.url;
    this.#settle();
    if (this.#connection) this.#pool.release(this.#connection, false);
    this.#subscriber.error(firstByteTimeout(host, this.#limits.firstByteMs));
  };

  readonly onRejected = (why: 'full' | 'late'): void => {
    this.#settle();
    this.#subscriber.error(poolFault(this.#call.url.host, why, this.#limits));
  };

  /** The body for undici. It is kept only if it may be sent again. */
  #takePayload(mayResend: boolean): string | Uint8Array | Readable {
    const payload = this.#payload ?? '';
    const isLarge = payload.length >= largeBytes;
    if (!mayResend) this.#payload = undefined;
    else if (isLarge) {
      this.#payloadTimer = setTimeout(() => {
        this.#payload = undefined;
      }, staleMs);
    }
    return isLarge ? new SentOnce(typeof payload === 'string' ? Buffer.from(payload) : payload) : payload;
  }

  /** The reused connection was closed before it got the call. The body is kept for no other case. */
  #isStale(error: Error): boolean {
    return this.#payload !== undefined && isReset(error) && performance.now() - this.#sentAtMs < staleMs;
  }

  #resend(connection: Connection): void {
    this.#resent = true;
    clearTimeout(this.#firstByteTimer);
    this.#connection = undefined;
    this.#pool.replace(connection, this);
  }

  #open(body: Subscriber<Uint8Array>): (() => void) | undefined {
    if (this.#failure || this.#body || this.#done) {
      body.error(this.#failure ?? new Error('The body of an upstream answer was subscribed twice.'));
      return undefined;
    }
    this.#body = body;
    this.resume();
    return () => this.#abandon();
  }

  get #flowing(): boolean {
    return this.#body !== undefined && !this.#call.backpressure.paused;
  }

  #settle(): void {
    this.#done = true;
    this.#payload = undefined;
    clearTimeout(this.#payloadTimer);
    clearTimeout(this.#firstByteTimer);
    clearTimeout(this.#drainTimer);
    this.#call.backpressure.detach(this);
  }
}

/** A body that is let go of once it is written. undici keeps bytes or text until the answer has ended, but empties a stream. */
class SentOnce extends Readable {
  #bytes: Uint8Array | undefined;

  constructor(bytes: Uint8Array) {
    super({ highWaterMark: bytes.length });
    this.#bytes = bytes;
  }

  override _read(): void {
    this.push(this.#bytes);
    this.push(null);
    this.#bytes = undefined;
  }
}

const joinValues = (headers: Readonly<Record<string, string | string[] | undefined>>): Headers => {
  const joined: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name] ?? '';
    joined[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return joined;
};
