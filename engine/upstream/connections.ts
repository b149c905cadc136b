import { performance } from 'node:perf_hooks';
import { Connection } from './connection.ts';
import type { Target } from './open-socket.ts';

/** A call that needs a connection. One of the two is called, once. */
export interface Claim {
  readonly grant: (connection: Connection) => void;
  /** There is none to be had: too many calls wait already, or this one has waited too long. */
  readonly refuse: (why: 'full' | 'late') => void;
}

/** How many calls may be at work on one origin, and wait to be. */
export interface Room {
  /** Connections at a time; further calls wait for one. */
  readonly connections: number;
  /** Calls that may wait. */
  readonly queue: number;
  /** How long one may wait, in milliseconds. */
  readonly queueMs: number;
}

/** What goes on at one origin. */
export interface Occupancy {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  /** Calls so far that got no connection. */
  readonly refused: number;
}

/**
 * The connections to one origin. undici's own pool can neither withdraw a call that is queued or connecting nor say which
 * socket serves which call, so this one hands out a client per call.
 */
export class Connections {
  readonly #target: Target;
  readonly #room: Room;
  /** The one used last is taken first, so that a burst's surplus grows old and is closed. */
  readonly #idle: Connection[] = [];
  /** Since when each one waits, the longest first; in milliseconds. */
  readonly #waiting = new Map<Claim, number>();
  #timer: NodeJS.Timeout | undefined;
  #inUse = 0;
  #refused = 0;
  #closed: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(target: Target, room: Room) {
    this.#target = target;
    this.#room = room;
  }

  get occupancy(): Occupancy {
    const { length } = this.#idle;
    return { inUse: this.#inUse, idle: length, waiting: this.#waiting.size, refused: this.#refused };
  }

  /** Grants a connection: at once where there is room, else when one becomes free. */
  acquire(claim: Claim): void {
    if (this.#inUse < this.#room.connections) this.#give(claim);
    else if (this.#waiting.size < this.#room.queue) this.#enqueue(claim);
    else this.#refuse(claim, 'full');
  }

  /** The call no longer waits. */
  withdraw(claim: Claim): void {
    this.#waiting.delete(claim);
    this.#settleTimer();
  }

  /** Takes a connection back: to be used again, or else to be closed at once. */
  release(connection: Connection, keep: boolean): void {
    this.#inUse -= 1;
    if (keep && this.#closed === undefined && connection.usable) {
      connection.markServed();
      this.#idle.push(connection);
    } else {
      connection.destroy();
    }
    const [next] = this.#waiting.keys();
    if (next !== undefined) {
      this.withdraw(next);
      this.#give(next);
    } else if (this.#inUse === 0) {
      this.#drained?.();
    }
  }

  /** Closes what isn't in use. */
  dropIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  /** Keeps nothing from now on; the promise resolves when the last call has given its connection back. */
  close(): Promise<void> {
    this.dropIdle();
    this.#closed ??= new Promise((resolve) => {
      this.#drained = resolve;
      if (this.#inUse === 0) resolve();
    });
    return this.#closed;
  }

  #enqueue(claim: Claim): void {
    this.#waiting.set(claim, performance.now());
    this.#timer ??= setTimeout(this.#expire, this.#room.queueMs);
  }

  #refuse(claim: Claim, why: 'full' | 'late'): void {
    this.#refused += 1;
    claim.refuse(why);
  }

  /** One timer for all that wait: it is set for the one that has waited longest. */
  readonly #expire = (): void => {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (const [claim, sinceMs] of this.#waiting) {
      const leftMs = sinceMs + this.#room.queueMs - nowMs;
      if (leftMs > 0) {
        this.#timer = setTimeout(this.#expire, leftMs);
        return;
      }
      this.#waiting.delete(claim);
      this.#refuse(claim, 'late');
    }
  };

  #settleTimer(): void {
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #give({ grant }: Claim): void {
    this.#inUse += 1;
    grant(this.#idle.pop() ?? new Connection(this.#target, (connection) => this.#forget(connection)));
  }

  /** Only an idle connection is forgotten: one in use connects again by itself or fails its call. */
  #forget(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    if (index < 0) return;
    this.#idle.splice(index, 1);
    connection.destroy();
  }
}
