import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { Observable, type Subscriber } from 'rxjs';
import { type Dispatcher, util } from 'undici';
import type { Backpressure, Pausable } from '../backpressure.ts';
import type { Environment } from '../config/env.ts';
import { fail } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import { type DecompressLimits, plainAnswer } from './decompress.ts';
import { callFault, firstByteTimeout, isEnd, isReset, poolFault } from './faults.ts';
import { type Connection, ConnectionPool, type PoolLimits, type PoolRequest, type PoolStats } from './pool.ts';
import { proxyFor } from './proxy.ts';
import type { UpstreamAnswer, UpstreamCall, Upstreams } from './upstreams.ts';

/**
 * How upstreams are reached. undici's timer for `idleMs` ticks twice a second, so it may be up to a second late; 0 disables it.
 * The time during which a body is paused doesn't count.
 */
export interface UpstreamOptions extends CallLimits {
  /** Time to open a connection, in milliseconds: DNS, TCP, proxy and TLS together. */
  readonly connectMs: number;
  /** The source of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly environment: Environment;
  /** A monotonic clock, in milliseconds. Default: Node's. */
  readonly nowMs?: () => number;
}

const empty: PoolStats = { inUse: 0, idle: 0, waiting: 0, refused: 0, resent: 0 };

/** Creates the connections to upstreams; each connects on its first call. */
export const createUpstreams = (options: UpstreamOptions): Upstreams => {
  const pools = new Map<string, ConnectionPool>();
  let closing = false;

  /** Plans share their URLs, whose parts would be cut out anew for each call. */
  const targets = new WeakMap<URL, CallTarget>();
  const targetOf = (url: URL): CallTarget => {
    const target = targets.get(url) ?? { pool: poolFor(url), path: url.pathname + url.search };
    targets.set(url, target);
    return target;
  };

  const poolFor = (url: URL): ConnectionPool => {
    const known = pools.get(url.origin);
    if (known) return known;
    if (!/^https?:$/.test(url.protocol)) fail('misconfigured', `An upstream can't be called by ${url.protocol}//.`);
    const proxy = proxyFor(url, options.environment);
    const { connectMs, nowMs = () => performance.now() } = options;
    const pool = new ConnectionPool({ url, proxy, connectMs, sessions: { latest: undefined } }, options, nowMs);
    pools.set(url.origin, pool);
    if (closing) pool.close();
    return pool;
  };

  return {
    call: (call) =>
      new Observable((subscriber) => new CallHandler(call, targetOf(call.url), options, subscriber).start()),
    poolStats: ({ origin }) => pools.get(origin)?.poolStats ?? empty,
    async close() {
      closing = true;
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
};

/**
 * A call is resent if its reused connection is closed or reset without a byte within this time after sending, in milliseconds.
 * When an upstream closed an idle connection, that shows within a round trip. Later, it may already be at work, and charge for it.
 */
const staleMs = 1000;

/** From this many bytes on, a request's body is released before its answer has ended. */
const largeBytes = 128 * 1024;

/** How long the unneeded rest of a body may take before the connection is closed, in milliseconds. */
const drainMs = 1000;

/** The limits of calls: their number, how long an upstream may stay silent, the size of a decompressed answer. */
interface CallLimits extends PoolLimits, DecompressLimits {
  /** From sending the request to the answer's head, in milliseconds. */
  readonly firstByteMs: number;
  /** Between two chunks of the answer's body, in milliseconds. */
  readonly idleMs: number;
}

/** Where a call goes. */
interface CallTarget {
  readonly pool: ConnectionPool;
  /** The URL's path and query. */
  readonly path: string;
}

/** One upstream call. Passes undici's callbacks on to the subscribers of the call and of the answer's body. */
class CallHandler implements Dispatcher.DispatchHandler, Pausable, PoolRequest {
  readonly #method: 'GET' | 'POST';
  readonly #url: URL;
  readonly #headers: UpstreamCall['headers'];
  readonly #backpressure: Backpressure;
  readonly #target: CallTarget;
  /** The request's body, for as long as it may be sent or sent again. */
  #payload: string | Uint8Array | undefined;
  readonly #limits: CallLimits;
  readonly #subscriber: Subscriber<UpstreamAnswer>;
  #body: Subscriber<Uint8Array> | undefined;
  #connection: Connection | undefined;
  /** undici reads no further until `#readOn` is called. */
  #paused = false;
  #readOn: (() => void) | undefined;
  /** The error for a body that is subscribed too late. */
  #failure: Error | undefined;
  #firstByteTimer: NodeJS.Timeout | undefined;
  #resent = false;
  #answered = false;
  #done = false;
  /** The rest of the body doesn't matter. */
  #complete = false;
  #drainTimer: NodeJS.Timeout | undefined;
  #payloadTimer: NodeJS.Timeout | undefined;

  constructor(
    { method = 'POST', url, headers, backpressure, body }: UpstreamCall,
    target: CallTarget,
    limits: CallLimits,
    subscriber: Subscriber<UpstreamAnswer>,
  ) {
    this.#method = method;
    this.#url = url;
    this.#headers = headers;
    this.#backpressure = backpressure;
    this.#payload = body;
    this.#target = target;
    this.#limits = limits;
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
    clearTimeout(this.#firstByteTimer);
    this.#firstByteTimer = setTimeout(() => this.#giveUp(), this.#limits.firstByteMs);
  }

  onHeaders(status: number, headers: readonly Buffer[], readOn: () => void): boolean {
    if (this.#done || status < 200) return true;
    this.#answered = true;
    this.#readOn = readOn;
    this.#payload = undefined;
    clearTimeout(this.#firstByteTimer);
    clearTimeout(this.#payloadTimer);
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
    this.#subscriber.next(isPlain ? answer : plainAnswer(answer, this.#limits, this.#backpressure));
    if (!this.#flowing) this.pause();
    return !this.#paused;
  }

  onData(chunk: Buffer): boolean {
    // undici's parser emits an empty chunk when it resumes a body that ends with its connection.
    if (chunk.length > 0) this.#body?.next(chunk);
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
    this.#settle();
    if (connection) this.#target.pool.release(connection, false);
    this.#failure = callFault(this.#url.host, error, this.#limits.idleMs);
    if (this.#answered) this.#body?.error(this.#failure);
    else this.#subscriber.error(this.#failure);
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

  /** Fails the call: no answer has come in time. */
  #giveUp(): void {
    this.#settle();
    if (this.#connection) this.#target.pool.release(this.#connection, false);
    this.#subscriber.error(firstByteTimeout(this.#url.host, this.#limits.firstByteMs));
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
    if (payload.length < largeBytes) return payload;
    return new SentOnce(typeof payload === 'string' ? Buffer.from(payload) : payload);
  }

  /** Releases the body when it can't be sent again any more. */
  #expirePayload(connection: Connection): void {
    this.#payloadTimer = setTimeout(() => {
      // In an immediate: after a long task, timers run before the sockets' events, which may be as old.
      setImmediate(() => {
        if (this.#connection === connection) this.#payload = undefined;
      });
    }, staleMs);
  }

  /** The reused connection was closed before it got the call. The body is kept for no other case. */
  #isStale(connection: Connection, error: Error): boolean {
    const isUnread = this.#payload !== undefined && connection.reused && connection.silent;
    return isUnread && (isReset(error) || isEnd(error));
  }

  #resend(connection: Connection): void {
    this.#resent = true;
    clearTimeout(this.#firstByteTimer);
    clearTimeout(this.#payloadTimer);
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
    clearTimeout(this.#payloadTimer);
    clearTimeout(this.#firstByteTimer);
    clearTimeout(this.#drainTimer);
    this.#backpressure.detach(this);
  }
}

/** A body that is released once it is written. undici keeps bytes or text until the answer has ended, but empties a stream. */
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
