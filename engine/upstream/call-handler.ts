import type { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { Observable, type Subscriber } from 'rxjs';
import { type Dispatcher, util } from 'undici';
import { BytePieces, bodyBytes, type CallBody } from '../model/call-body.ts';
import type { Headers } from '../model/protocol.ts';
import { type Backpressure, FairReading, type Pausable } from '../runtime/backpressure.ts';
import type { SteadyClock } from '../runtime/steady-clock.ts';
import type { Connection } from './connection.ts';
import { type DecompressLimits, plainAnswer } from './decompress.ts';
import { asleepFault, callFault, callTimeout, firstByteTimeout, isEnd, isReset, poolFault } from './faults.ts';
import type { ConnectionPool, PoolLimits, PoolRequest } from './pool.ts';
import type { CallTimeouts, UpstreamAnswer, UpstreamCall } from './upstreams.ts';

/**
 * A call is resent if its reused connection is closed or reset without a byte within this time after sending, in milliseconds.
 * When an upstream closed an idle connection, that shows within a round trip. Later, it may already be at work, and charge for it.
 */
const staleMs = 1000;

/** Silence after a sleep from which on a call's connection counts as dead, in milliseconds. */
const wakeMs = 20_000;

/** From this many bytes on, a request's body is released before its answer has ended. */
const largeBytes = 128 * 1024;

/** Time limit for reading the unneeded rest of a body before the connection is closed, in milliseconds. */
const drainMs = 1000;

/** The limits of calls: their number, how long they and an upstream's silence may last, the size of a decompressed answer. */
export interface CallLimits extends PoolLimits, DecompressLimits, CallTimeouts {}

/** The target of a call. */
export interface CallTarget {
  readonly pool: ConnectionPool;
  /** The URL's path and query. */
  readonly path: string;
}

/** One for all calls of the process. */
export const readingTurns = new FairReading();

/** One upstream call. Passes undici's callbacks on to the subscribers of the call and of the answer's body. */
export class CallHandler implements Dispatcher.DispatchHandler, Pausable, PoolRequest {
  readonly #method: 'GET' | 'POST';
  readonly #url: URL;
  readonly #headers: UpstreamCall['headers'];
  readonly #backpressure: Backpressure;
  readonly #target: CallTarget;
  /** The request's body, for as long as it may be sent or sent again. */
  #payload: CallBody | undefined;
  readonly #limits: CallLimits;
  readonly #clock: SteadyClock;
  readonly #subscriber: Subscriber<UpstreamAnswer>;
  #body: Subscriber<Uint8Array> | undefined;
  #connection: Connection | undefined;
  /** undici reads no further until `#readOn` is called. */
  #paused = false;
  #readOn: (() => void) | undefined;
  /** The error for a body that is subscribed too late. */
  #failure: Error | undefined;
  /** Cancels the limit of the time to the first byte; the other limits likewise. */
  #stopFirstByte = nothing;
  #stopCall = nothing;
  #stopWake = nothing;
  /** The machine slept, and nothing was known to be read from the connection since. */
  #isDoubtful = false;
  #resent = false;
  #answered = false;
  #done = false;
  /** The rest of the body doesn't matter. */
  #complete = false;
  #drainTimer: NodeJS.Timeout | undefined;
  #stopPayload = nothing;

  constructor(
    { method = 'POST', url, headers, backpressure, body }: UpstreamCall,
    target: CallTarget,
    limits: CallLimits,
    clock: SteadyClock,
    subscriber: Subscriber<UpstreamAnswer>,
  ) {
    this.#method = method;
    this.#url = url;
    this.#headers = headers;
    this.#backpressure = backpressure;
    this.#payload = body;
    this.#target = target;
    this.#limits = limits;
    this.#clock = clock;
    this.#subscriber = subscriber;
  }

  /** A call is resent once, on a new connection. */
  get mayReuse(): boolean {
    return !this.#resent;
  }

  /** Returns what ends the call at any stage; it holds nothing of the request. */
  start(): () => void {
    this.#target.pool.acquire(this);
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
    this.#target.pool.withdraw(this);
    if (this.#connection) this.#target.pool.release(this.#connection, false);
    this.#subscriber.complete();
  }

  /** Reads the body to its end, for at most `drainMs`, to keep the connection. */
  #drain(): void {
    if (this.#body === undefined) return;
    this.#body = undefined;
    this.#backpressure.detach(this);
    // In a microtask, since the end has usually arrived with the last chunk.
    queueMicrotask(() => {
      if (this.#done) return;
      this.#drainTimer = setTimeout(() => this.#close(), drainMs);
      this.#continue();
    });
    this.#subscriber.complete();
  }

  pause(): void {
    this.#paused = true;
    this.#connection?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    // In a microtask: this may run in an undici callback, and its parser, shared by all connections, isn't reentrant.
    queueMicrotask(() => {
      if (!this.#done && this.#flowing) this.#continue();
    });
  }

  onConnect(): void {
    // undici's own timer restarts with each interim response, of which there may be any number.
    const { firstByteMs, callMs } = this.#limits;
    const { host } = this.#url;
    this.#stopFirstByte();
    this.#stopFirstByte = this.#clock.after(firstByteMs, () => this.#fail(firstByteTimeout(host, firstByteMs)));
    if (callMs > 0 && this.#stopCall === nothing) {
      this.#stopCall = this.#clock.after(callMs, () => this.#fail(callTimeout(host, callMs)));
    }
  }

  onWake(): void {
    // A connection that is being opened has a limit of its own.
    if (this.#connection?.usable) this.#awaitRead(this.#connection, this.#connection.reads);
  }

  /** Fails the call if nothing more is read for a while. */
  #awaitRead(connection: Connection, readsBefore: number): void {
    this.#isDoubtful = true;
    this.#stopWake();
    this.#stopWake = this.#clock.after(wakeMs, () => {
      if (connection !== this.#connection) return;
      if (connection.reads !== readsBefore) this.#isDoubtful = false;
      // A paused connection can't show whether it is alive.
      else if (this.#paused) this.#awaitRead(connection, readsBefore);
      else this.#fail(asleepFault(this.#url.host));
    });
  }

  onHeaders(status: number, headers: readonly Buffer[], readOn: () => void): boolean {
    if (this.#done || status < 200) return true;
    this.#answered = true;
    this.#readOn = readOn;
    this.#payload = undefined;
    this.#stopFirstByte();
    this.#stopPayload();
    this.#backpressure.attach(this);
    const known = readHeaders(headers);
    this.#connection?.readKeepAlive(known['keep-alive']);
    const answer: UpstreamAnswer = {
      status,
      headers: known,
      body: new Observable((body) => this.#open(body)),
      drain: () => {
        this.#complete = true;
      },
    };
    const isPlain = answer.headers['content-encoding'] === undefined;
    this.#subscriber.next(
      isPlain ? answer : plainAnswer(answer, this.#limits, { backpressure: this.#backpressure, source: this }),
    );
    if (!this.#flowing) this.pause();
    return !this.#paused;
  }

  onData(chunk: Buffer): boolean {
    // undici's parser emits an empty chunk when it resumes a body that ends with its connection.
    if (chunk.length > 0 && this.#body) {
      this.#body.next(chunk);
      // Reading continues when its pause ends.
      if (!this.#paused && !this.#done) readingTurns.brought(this, chunk.length);
    }
    return !this.#paused;
  }

  onComplete(): void {
    if (this.#done) return;
    this.#settle();
    const connection = this.#connection;
    // In a microtask: undici ends the exchange only after this callback and would mix it up with the next.
    if (connection) queueMicrotask(() => this.#target.pool.release(connection, true));
    this.#body?.complete();
    this.#subscriber.complete();
  }

  onError(error: Error): void {
    if (this.#done) return;
    const connection = this.#connection;
    if (connection && this.#isStale(connection, error)) {
      this.#resend(connection);
      return;
    }
    const isDead = this.#isDoubtful && (isReset(error) || isEnd(error));
    this.#fail(isDead ? asleepFault(this.#url.host) : callFault(this.#url.host, error, this.#limits.idleMs));
  }

  #fail(failure: Error): void {
    this.#settle();
    if (this.#connection) this.#target.pool.release(this.#connection, false);
    this.#failure = failure;
    if (this.#answered) this.#body?.error(failure);
    else this.#subscriber.error(failure);
    this.#subscriber.complete();
  }

  onConnection(connection: Connection): void {
    this.#connection = connection;
    const body = this.#takePayload(connection);
    connection.dispatch(
      {
        method: this.#method,
        path: this.#target.path,
        headers: this.#headers,
        body,
        headersTimeout: 0,
        bodyTimeout: this.#limits.idleMs,
      },
      this,
    );
  }

  onRejected(why: 'full' | 'late'): void {
    this.#settle();
    this.#subscriber.error(poolFault(this.#url.host, why, this.#limits));
  }

  /** The body for undici. It is kept only if it may be sent again. */
  #takePayload(connection: Connection): string | Uint8Array | Readable {
    const payload = this.#payload ?? '';
    if (connection.reused) this.#expirePayload(connection);
    else this.#payload = undefined;
    if (payload.length >= largeBytes)
      return new SentOnce(payload instanceof BytePieces ? payload.pieces : [bodyBytes(payload)]);
    return payload instanceof BytePieces ? bodyBytes(payload) : payload;
  }

  /** Releases the body when it can't be sent again any more. */
  #expirePayload(connection: Connection): void {
    this.#stopPayload = this.#clock.after(staleMs, () => {
      // In an immediate: after a long task, timers run before the sockets' events, which may be as old.
      setImmediate(() => {
        if (this.#connection === connection) this.#payload = undefined;
      });
    });
  }

  /** The reused connection was closed before it got the call. The body is kept for no other case. */
  #isStale(connection: Connection, error: Error): boolean {
    const isUnread = this.#payload !== undefined && connection.reused && connection.silent;
    return isUnread && (isReset(error) || isEnd(error));
  }

  #resend(connection: Connection): void {
    this.#resent = true;
    this.#stopFirstByte();
    this.#stopPayload();
    this.#stopWake();
    this.#isDoubtful = false;
    this.#connection = undefined;
    this.#target.pool.replace(connection, this);
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

  #continue(): void {
    if (!this.#paused) return;
    this.#connection?.resume(() => {
      this.#paused = false;
      this.#readOn?.();
    });
  }

  get #flowing(): boolean {
    return this.#body !== undefined && !this.#backpressure.paused;
  }

  #settle(): void {
    this.#done = true;
    this.#payload = undefined;
    this.#stopPayload();
    this.#stopFirstByte();
    this.#stopCall();
    this.#stopWake();
    clearTimeout(this.#drainTimer);
    this.#backpressure.detach(this);
  }
}

const nothing = (): void => {};

/** A body that is released once it is written. undici keeps bytes or text until the answer has ended, but empties a stream. */
class SentOnce extends Readable {
  #pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[]) {
    super({ highWaterMark: pieces.reduce((sum, piece) => sum + piece.length, 0) });
    this.#pieces = pieces;
  }

  override _read(): void {
    for (const piece of this.#pieces) if (piece.length > 0) this.push(piece);
    this.push(null);
    this.#pieces = [];
  }
}

/** The headers by lower-case name; repeated ones are joined. */
const readHeaders = (raw: readonly Buffer[]): Headers => {
  const headers: Record<string, string> = {};
  for (let at = 0; at < raw.length; at += 2) {
    const name = util.headerNameToString(raw[at] ?? '');
    const value = raw[at + 1]?.toString('latin1') ?? '';
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
};
