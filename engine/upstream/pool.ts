import type { Limits, Timeouts } from '../config/schema.ts';
import type { SteadyClock } from '../runtime/steady-clock.ts';
import { Connection, type OpenClient } from './connection.ts';
import type { SocketTarget } from './open-socket.ts';

/** The limits of calls to one origin. A call waits while the machine is awake. */
export type PoolLimits = Pick<Limits, 'connectionsPerProvider' | 'queuePerProvider'> & Pick<Timeouts, 'queueMs'>;

/** A call that needs a connection. Exactly one of the callbacks is called, once. */
export interface PoolRequest {
  /** Whether a kept connection will do. */
  readonly mayReuse: boolean;
  readonly onConnection: (connection: Connection) => void;
  /** `full`: too many calls are already waiting. `late`: this one has waited too long. */
  readonly onRejected: (why: 'full' | 'late') => void;
  /** The machine slept while the call had its connection, which may be dead now. */
  readonly onWake: () => void;
}

/** The state of one origin's pool. */
export interface PoolStats {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  /** Calls so far that got no connection. */
  readonly refused: number;
  /** Calls so far that were resent, since their reused connection was closed without a byte of an answer. */
  readonly resent: number;
}

/**
 * The connections to one origin. undici's own pool can't withdraw a queued or connecting call, nor say which socket serves which
 * call; so this pool assigns one undici client to each call.
 */
export class ConnectionPool {
  readonly #target: SocketTarget;
  readonly #limits: PoolLimits;
  readonly #clock: SteadyClock;
  readonly #openClient: OpenClient;
  /** A stack: the most recently used is reused first, so that surplus connections of a burst expire. */
  readonly #idle: Connection[] = [];
  /** The upstream's keep-alive, measured on the latest connection that it closed, in milliseconds. */
  #closedAfterMs = Number.POSITIVE_INFINITY;
  /** The calls that wait, the longest wait first, each with what stops its timer. */
  readonly #waiting = new Map<PoolRequest, () => void>();
  /** Connections that are open or being opened, with their calls. */
  readonly #connections = new Map<Connection, PoolRequest | undefined>();
  #inUse = 0;
  #refused = 0;
  #resent = 0;
  #closed: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(target: SocketTarget, limits: PoolLimits, clock: SteadyClock, openClient: OpenClient) {
    this.#target = target;
    this.#limits = limits;
    this.#clock = clock;
    this.#openClient = openClient;
  }

  get poolStats(): PoolStats {
    const { length } = this.#idle;
    const [refused, resent] = [this.#refused, this.#resent];
    return { inUse: this.#inUse, idle: length, waiting: this.#waiting.size, refused, resent };
  }

  /** Provides a connection: at once below the limit, else when one becomes free. */
  acquire(request: PoolRequest): void {
    if (this.#inUse < this.#limits.connectionsPerProvider) this.#give(request);
    else if (this.#waiting.size < this.#limits.queuePerProvider) this.#enqueue(request);
    else this.#refuse(request, 'full');
  }

  /** Replaces a connection that the upstream has closed. Closes the idle ones, which are probably dead too. */
  replace(connection: Connection, request: PoolRequest): void {
    this.#resent += 1;
    this.#closedAfterMs = Math.min(this.#closedAfterMs, connection.idleMs);
    this.dropIdle();
    this.release(connection, false);
    this.acquire(request);
  }

  /** Removes a call from the queue. */
  withdraw(request: PoolRequest): void {
    this.#waiting.get(request)?.();
    this.#waiting.delete(request);
  }

  /** Returns a connection, which is kept for reuse or closed at once. */
  release(connection: Connection, keep: boolean): void {
    this.#inUse -= 1;
    if (keep && this.#closed === undefined && connection.usable) {
      connection.markServed(this.#clock.nowMs());
      this.#connections.set(connection, undefined);
      this.#idle.push(connection);
    } else {
      this.#drop(connection);
    }
    const next = this.#waiting.size > 0 ? this.#waiting.keys().next().value : undefined;
    if (next !== undefined) {
      this.withdraw(next);
      this.#give(next);
    } else if (this.#inUse === 0) {
      this.#drained?.();
    }
  }

  /** Closes the idle connections. */
  dropIdle(): void {
    for (const connection of this.#idle.splice(0)) this.#drop(connection);
  }

  /** After a sleep: idle connections are closed, and calls that have one are notified. */
  wake(): void {
    this.dropIdle();
    for (const request of [...this.#connections.values()]) request?.onWake();
  }

  /** Stops keeping connections. Resolves when the last one in use is returned. */
  close(): Promise<void> {
    this.dropIdle();
    this.#closed ??= new Promise((resolve) => {
      this.#drained = resolve;
      if (this.#inUse === 0) resolve();
    });
    return this.#closed;
  }

  #enqueue(request: PoolRequest): void {
    const expire = (): void => {
      this.#waiting.delete(request);
      this.#refuse(request, 'late');
    };
    this.#waiting.set(request, this.#clock.after(this.#limits.queueMs, expire));
  }

  #refuse(request: PoolRequest, why: 'full' | 'late'): void {
    this.#refused += 1;
    request.onRejected(why);
  }

  #give(request: PoolRequest): void {
    this.#inUse += 1;
    const connection = (request.mayReuse ? this.#takeIdle() : undefined) ?? this.#connect();
    this.#connections.set(connection, request);
    request.onConnection(connection);
  }

  /** The most recently used idle connection, unless the upstream may be closing it. */
  #takeIdle(): Connection | undefined {
    const nowMs = this.#clock.nowMs();
    if (this.#idle.at(-1)?.canServe(nowMs, this.#closedAfterMs)) return this.#idle.pop();
    // The oldest stays: when it closes is when the upstream closes idle connections.
    for (const connection of this.#idle.splice(1)) this.#drop(connection);
    return undefined;
  }

  #connect(): Connection {
    const [oldest] = this.#idle;
    if (oldest && this.#inUse + this.#idle.length > this.#limits.connectionsPerProvider) this.#drop(oldest);
    return new Connection(this.#target, this.#openClient, (connection, byUpstream) =>
      this.#forget(connection, byUpstream),
    );
  }

  #drop(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    this.#connections.delete(connection);
    connection.destroy();
  }

  /** Removes a lost connection if it is idle. One in use reconnects by itself or fails its call. */
  #forget(connection: Connection, byUpstream: boolean): void {
    if (!this.#idle.includes(connection)) return;
    this.#drop(connection);
    this.#closedAfterMs = byUpstream ? this.#clock.nowMs() - connection.idleSinceMs : Number.POSITIVE_INFINITY;
  }
}
