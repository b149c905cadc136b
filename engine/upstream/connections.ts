import { Connection } from './connection.ts';
import type { Target } from './open-socket.ts';

/** Takes the connection that a call was waiting for. */
export type Grant = (connection: Connection) => void;

/**
 * The connections to one origin. undici's own pool can neither withdraw a call that is queued or connecting nor say which
 * socket serves which call, so this one hands out a client per call.
 */
export class Connections {
  readonly #target: Target;
  readonly #limit: number;
  /** The one used last is taken first, so that a burst's surplus grows old and is closed. */
  readonly #idle: Connection[] = [];
  readonly #waiting = new Set<Grant>();
  #inUse = 0;
  #closed: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  /** `limit` is the number of connections at a time; further calls wait for one. */
  constructor(target: Target, limit: number) {
    this.#target = target;
    this.#limit = limit;
  }

  /** Calls `grant` with a connection: at once where the limit allows it, else when one becomes free. */
  acquire(grant: Grant): void {
    if (this.#inUse >= this.#limit) this.#waiting.add(grant);
    else this.#give(grant);
  }

  /** The call no longer waits. */
  withdraw(grant: Grant): void {
    this.#waiting.delete(grant);
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
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
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

  #give(grant: Grant): void {
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
