import { performance } from 'node:perf_hooks';
import { Observable, type Subscriber } from 'rxjs';
import type { Dispatcher } from 'undici';
import type { Valve } from '../flow.ts';
import type { Headers } from '../model/protocol.ts';
import type { Answer, UpstreamCall } from './call.ts';
import type { Connection } from './connection.ts';
import type { Claim, Connections, Room } from './connections.ts';
import { callFault, isLost, type Patience, roomFault } from './faults.ts';

/**
 * How soon after sending a reused connection must break for its call to be sent once more, in milliseconds. An upstream that
 * closed it for being idle is heard within a round trip; one that fails later may have begun to work, and to charge.
 */
const staleMs = 1000;

/** How long a call may take, and how many there may be. */
export type TransferLimits = Patience & Room;

/** One call on its way: hands undici's callbacks on to the subscribers of the call and of its answer's body. */
export class Transfer implements Dispatcher.DispatchHandler, Valve, Claim {
  readonly #call: UpstreamCall;
  readonly #connections: Connections;
  readonly #limits: TransferLimits;
  readonly #subscriber: Subscriber<Answer>;
  #body: Subscriber<Uint8Array> | undefined;
  #connection: Connection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** What a body that is subscribed too late is told. */
  #failure: Error | undefined;
  #sentAtMs = 0;
  #resent = false;
  #answered = false;
  #done = false;

  constructor(call: UpstreamCall, connections: Connections, limits: TransferLimits, subscriber: Subscriber<Answer>) {
    this.#call = call;
    this.#connections = connections;
    this.#limits = limits;
    this.#subscriber = subscriber;
  }

  start(): void {
    this.#connections.acquire(this);
  }

  /** Ends it wherever it stands. */
  abandon(): void {
    if (this.#done) return;
    this.#failure = new Error('The body of an upstream answer was subscribed after its call had been given up.');
    this.#settle();
    this.#connections.withdraw(this);
    if (this.#connection) this.#connections.release(this.#connection, false);
    this.#subscriber.complete();
  }

  pause(): void {
    if (this.#controller) this.#connection?.pause(this.#controller);
  }

  resume(): void {
    // Not at once: this may run inside a callback of undici's, whose parser serves all connections but one at a time.
    queueMicrotask(() => {
      if (!this.#done && this.#flowing && this.#controller) this.#connection?.resume(this.#controller);
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (this.#done || status < 200) return;
    this.#answered = true;
    this.#call.flow.attach(this);
    this.#subscriber.next({ status, headers: joinValues(headers), body: new Observable((body) => this.#open(body)) });
    if (!this.#flowing) this.pause();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici's parser brings an empty chunk when it goes on in a body that is as long as its connection.
    if (chunk.length > 0) this.#body?.next(chunk);
  }

  onResponseEnd(): void {
    if (this.#done) return;
    this.#settle();
    const connection = this.#connection;
    // Later: undici takes the exchange for ended only after this callback, and would mix a next one up with it.
    if (connection) queueMicrotask(() => this.#connections.release(connection, true));
    this.#body?.complete();
    this.#subscriber.complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#done) return;
    const connection = this.#connection;
    if (connection && this.#isStale(connection, error)) {
      this.#sendAgain(connection);
      return;
    }
    this.#settle();
    if (connection) this.#connections.release(connection, false);
    this.#failure = callFault(this.#call.url.host, error, this.#limits);
    if (this.#answered) this.#body?.error(this.#failure);
    else this.#subscriber.error(this.#failure);
    this.#subscriber.complete();
  }

  readonly grant = (connection: Connection): void => {
    const { method = 'POST', url, headers, body } = this.#call;
    this.#connection = connection;
    this.#sentAtMs = performance.now();
    connection.dispatch(
      {
        method,
        path: url.pathname + url.search,
        headers,
        body,
        headersTimeout: this.#limits.firstByteMs,
        bodyTimeout: this.#limits.idleMs,
      },
      this,
    );
  };

  readonly refuse = (why: 'full' | 'late'): void => {
    this.#settle();
    this.#subscriber.error(roomFault(this.#call.url.host, why, this.#limits));
  };

  #isStale(connection: Connection, error: Error): boolean {
    const isFresh = this.#resent || this.#answered || !connection.reused;
    return !isFresh && isLost(error) && performance.now() - this.#sentAtMs < staleMs;
  }

  /** On a new connection: the other idle ones are likely to be as dead. */
  #sendAgain(connection: Connection): void {
    this.#resent = true;
    this.#connection = undefined;
    this.#connections.dropIdle();
    this.#connections.release(connection, false);
    this.#connections.acquire(this);
  }

  #open(body: Subscriber<Uint8Array>): (() => void) | undefined {
    if (this.#failure || this.#body || this.#done) {
      body.error(this.#failure ?? new Error('The body of an upstream answer was subscribed twice.'));
      return undefined;
    }
    this.#body = body;
    this.resume();
    return () => this.abandon();
  }

  get #flowing(): boolean {
    return this.#body !== undefined && !this.#call.flow.paused;
  }

  #settle(): void {
    this.#done = true;
    this.#call.flow.detach(this);
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
