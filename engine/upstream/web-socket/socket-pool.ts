import { hash } from 'node:crypto';
import type { SocketChain, UpstreamRequest } from '../../model/wire/upstream-socket.ts';
import { BoundedMap } from '../../runtime/memoize.ts';
import type { SteadyClock } from '../../runtime/steady-clock.ts';
import type { SocketConnection } from './socket-connection.ts';

/** Connections of one conversation: its agent and the agents that this one has started. */
const maxPerConversation = 4;

/** Connections to one origin, unless the configuration allows fewer, and all together. */
const maxPerOrigin = 64;
const maxInAll = 256;

/** How long an upstream that refused an upgrade isn't asked again, in milliseconds. */
const refusedMs = 600_000;

/** Where a connection leads, and for which conversation. */
export interface SocketPlace {
  readonly origin: string;
  /** The URL, the headers and the conversation. */
  readonly key: string;
}

/** What a call gets: a connection, with the message that continues what was said there, or leave to open one. */
type Grant = { readonly connection: SocketConnection; readonly continuation?: string } | 'open' | undefined;

/** The WebSockets of a process to its upstreams. */
export class SocketPool {
  readonly #clock: SteadyClock;
  readonly #maxPerOrigin: number;
  readonly #places = new Map<SocketConnection, SocketPlace>();
  /** Those that are being opened. */
  readonly #opening = new Set<SocketPlace>();
  readonly #refused = new BoundedMap<string, number>(1_000);
  #isClosed = false;
  #drained: (() => void) | undefined;

  constructor(clock: SteadyClock, connections: number) {
    this.#clock = clock;
    this.#maxPerOrigin = Math.min(maxPerOrigin, connections);
  }

  /** The URL didn't speak WebSocket lately. */
  isRefused(url: string): boolean {
    return this.#clock.nowMs() < (this.#refused.get(url) ?? 0);
  }

  refuse(url: string): void {
    this.#refused.set(url, this.#clock.nowMs() + refusedMs);
  }

  /**
   * Finds a connection for a request. One that has seen the conversation comes first, then one that remembers nothing, then a new one.
   * `undefined`: all are in use.
   */
  take(place: SocketPlace, ask: UpstreamRequest): Grant {
    if (this.#isClosed) return undefined;
    const own = this.#connectionsAt(({ key }) => key === place.key);
    const idle = own.filter((connection) => connection.isUsable);
    for (const connection of idle) {
      const { chain } = connection;
      const continuation = chain && ask.messageAfter(chain);
      if (continuation !== undefined) return { connection, continuation };
    }
    const fresh = idle.find(({ chain }) => chain === undefined);
    if (fresh) return { connection: fresh };
    const isFull = own.length + this.#openingAt(({ key }) => key === place.key) >= maxPerConversation;
    const oldest = oldestOf(idle);
    if (isFull) return oldest && { connection: oldest };
    return this.#makeRoom(place) ? 'open' : oldest && { connection: oldest };
  }

  /** Counts a connection that is being opened, until the returned function is called. */
  opening(place: SocketPlace): () => void {
    this.#opening.add(place);
    return () => this.#opening.delete(place);
  }

  add(connection: SocketConnection, place: SocketPlace): void {
    this.#places.set(connection, place);
  }

  /** Takes back a connection whose response is complete. */
  release(connection: SocketConnection, chain: SocketChain | undefined): void {
    connection.release(chain);
    if (this.#isClosed) connection.close();
  }

  /** The connection is gone. */
  forget(connection: SocketConnection): void {
    this.#places.delete(connection);
    if (this.#places.size === 0) this.#drained?.();
  }

  wake(): void {
    for (const connection of [...this.#places.keys()]) connection.wake();
  }

  /** Closes the idle connections to such places. */
  dropIdle(where: (place: SocketPlace) => boolean): void {
    for (const connection of this.#connectionsAt(where)) if (connection.isIdle) connection.close();
  }

  /** Closes the idle connections, and the others after their responses; resolves when all are closed. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.dropIdle(() => true);
    return new Promise((resolve) => {
      this.#drained = resolve;
      if (this.#places.size === 0) resolve();
    });
  }

  /** Whether another connection may be opened; closes the longest idle one for it. */
  #makeRoom({ origin }: SocketPlace): boolean {
    const here = (place: SocketPlace) => place.origin === origin;
    return this.#hasRoom(here, this.#maxPerOrigin) && this.#hasRoom(() => true, maxInAll);
  }

  #hasRoom(where: (place: SocketPlace) => boolean, most: number): boolean {
    const connections = this.#connectionsAt(where);
    if (connections.length + this.#openingAt(where) < most) return true;
    const oldest = oldestOf(connections.filter(({ isIdle }) => isIdle));
    oldest?.close();
    return oldest !== undefined;
  }

  #connectionsAt(where: (place: SocketPlace) => boolean): readonly SocketConnection[] {
    return [...this.#places].flatMap(([connection, place]) => (where(place) ? [connection] : []));
  }

  #openingAt(where: (place: SocketPlace) => boolean): number {
    return [...this.#opening].filter(where).length;
  }
}

const oldestOf = (connections: readonly SocketConnection[]): SocketConnection | undefined =>
  connections.reduce<SocketConnection | undefined>(
    (oldest, one) => (oldest === undefined || one.idleSinceMs < oldest.idleSinceMs ? one : oldest),
    undefined,
  );

/** A conversation that no id names is known by what it begins with. */
export const conversationOf = (id: string, { opening }: UpstreamRequest): string =>
  id === '' ? hash('sha256', opening, 'base64') : id;
