import { performance } from 'node:perf_hooks';
import type { Fault } from '../model/fault.ts';
import { MemoryBudget } from '../runtime/memory-budget.ts';
import { type KeySettings, type OriginGuardSettings, trustedProxies } from './access/access.ts';
import { admission } from './admission.ts';
import { freePort, listenFailure, listenFault, whenIdle } from './bind.ts';
import { type ChosenServer, chooseServer, type HttpServerFacts } from './choose-server.ts';
import { Conversations } from './conversations.ts';
import type { Rejection } from './endpoint.ts';
import type { HttpRouter } from './router.ts';
import { ServedRequest } from './serve-request.ts';
import {
  type ActiveRequest,
  type HttpLimits,
  type OpenSocket,
  ownLimits,
  type RequestHooks,
  type ServeSettings,
  type ServingListener,
} from './settings.ts';
import { measureMs, UnseenMemory } from './socket/unseen-memory.ts';
import type { HttpServer, HttpServerEvents, HttpStream } from './stream.ts';
import { LinkedSet, Ticker } from './ticker.ts';

/** Settings that can change while a listener runs. */
interface ServeOptions extends KeySettings {
  readonly router: HttpRouter;
  readonly guard: OriginGuardSettings;
  /** Addresses and networks of trusted proxies; absent: none. */
  readonly proxies?: readonly string[];
  /** Whether connections stay open for further requests; absent: they do. */
  readonly keepAlive?: boolean;
  readonly limits: Omit<HttpLimits, keyof typeof ownLimits> & Partial<typeof ownLimits>;
}

/** The listen address and the initial settings. */
export interface ListenOptions extends ServeOptions {
  /** Address or name; `127.0.0.1` and `localhost` open `::1` too where the machine has it. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly hooks?: RequestHooks;
  /** Lets other processes of the same service open the port too; absent: exclusive. */
  readonly share?: PortSharing | undefined;
  /** Absent: chosen by the environment. */
  readonly server?: ChosenServer | undefined;
}

/** Sharing of a port. */
export interface PortSharing {
  /** Addresses at which processes of this service have the port open; absent: the port must be free. */
  readonly addresses?: readonly string[] | undefined;
  /** Other addresses at which they have the same port open and are about to close it. */
  readonly closingAddresses?: readonly string[] | undefined;
}

/** An open port. */
export interface Listener {
  readonly port: number;
  /** The addresses listened on: `127.0.0.1`, `::1`. */
  readonly addresses: readonly string[];
  readonly http: HttpServerFacts;
  readonly activeRequests: number;
  /** Applies to new requests. */
  readonly update: (options: ServeOptions) => void;
  /** Serves each request as the last on its connection from now on. Connections are still accepted. */
  readonly disableKeepAlive: () => void;
  /** Disables keep-alive and stops accepting connections. Resolves when no request is active. */
  readonly drain: () => Promise<void>;
  /** Disables keep-alive and stops accepting connections. Resolves when all connections are closed; idle ones time out within seconds. */
  readonly retire: () => Promise<void>;
  /** Ends all active requests with a fault. Resolves when none is active. */
  readonly interrupt: () => Promise<void>;
  /** Closes all connections at once. */
  readonly close: () => void;
}

/** Opens the port. Rejects with a one-line error when the port can't be opened or the server that is asked for can't run here. */
export const listen = async (options: ListenOptions): Promise<Listener> => {
  const server = options.server ?? chooseServer();
  if (server.warning !== undefined) options.hooks?.warn?.(server.warning);
  const listener = new HttpListener(server.facts, await server.load(), options);
  await listener.open(options);
  return listener;
};

class HttpListener implements Listener, ServingListener, HttpServerEvents {
  readonly http: HttpServerFacts;
  readonly hooks: RequestHooks;
  readonly ticker: Ticker;
  readonly bodies = new MemoryBudget();
  readonly answers = new MemoryBudget();
  readonly unseen = new MemoryBudget();
  readonly conversations = new Conversations();
  settings: ServeSettings;
  retiring = false;
  readonly #server: HttpServer;
  readonly #active = new LinkedSet<ActiveRequest>();
  readonly #activeByAddress = new Counts();
  readonly #sockets = new Set<OpenSocket>();
  readonly #unseenTicker = new Ticker(measureMs);
  readonly #unseenMemory = new UnseenMemory(
    () => this.settings.limits.bodiesBytes,
    () => this.#retireSockets(),
  );
  readonly #socketsByAddress = new Counts();
  readonly #idle: (() => void)[] = [];
  readonly #connections = new ConnectionLimit();
  #addresses: readonly string[] = [];
  #port = 0;
  #served = 0;
  #closed = false;
  #retired: (() => void) | undefined;
  #warnedAtMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;

  constructor(facts: HttpServerFacts, create: (events: HttpServerEvents) => HttpServer, options: ListenOptions) {
    this.http = facts;
    this.hooks = options.hooks ?? {};
    this.settings = settingsOf(options);
    // Each tick keeps a waiting connection open; the server's own timeouts are at least 8 seconds.
    this.ticker = new Ticker(Math.min(4000, this.settings.limits.bodyWindowMs / 2));
    this.#server = create(this);
  }

  get port(): number {
    return this.#port;
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  get activeRequests(): number {
    return this.#active.size;
  }

  async open({ host, port: wanted, share }: Pick<ListenOptions, 'host' | 'port' | 'share'>): Promise<void> {
    const shared = share?.addresses;
    const faultAt = async (address: string, port: number): Promise<string | undefined> =>
      share && !shared ? listenFault(address, port, share.closingAddresses) : undefined;
    const [first = host, second] = shared ?? listenAddresses(host);
    // A port that the system picks on listen can't be shared, so a free one is picked beforehand.
    const port = share && wanted === 0 ? await freePort(first) : wanted;
    const fault = await faultAt(first, port);
    const opened = fault === undefined ? await this.#server.listen(first, port, share !== undefined) : undefined;
    if (opened === undefined) throw new Error(fault ?? (await listenFailure(first, port)));
    this.#port = opened;
    const isDouble =
      second !== undefined &&
      (await faultAt(second, opened)) === undefined &&
      (await this.#server.listen(second, opened, share !== undefined)) !== undefined;
    this.#addresses = isDouble ? [first, second] : [first];
  }

  update(options: ServeOptions): void {
    this.settings = settingsOf(options);
  }

  /** A slightly larger message is still buffered, and rejected with an error. */
  get maxMessageBytes(): number {
    const { bodyBytes } = this.settings.limits;
    return bodyBytes + Math.min(bodyBytes, toldBytes);
  }

  disableKeepAlive(): void {
    this.retiring = true;
    this.#retireSockets();
  }

  async drain(): Promise<void> {
    this.disableKeepAlive();
    await whenIdle(() => this.#server.stopAccepting());
    await this.#whenInactive();
  }

  async retire(): Promise<void> {
    this.retiring = true;
    await whenIdle(() => this.#server.stopAccepting());
    // Only now: WebSocket clients come back at once, and shall find the next process.
    this.disableKeepAlive();
    if (this.#closed || this.#connections.open === 0) return;
    await new Promise<void>((resolve) => {
      this.#retired = resolve;
    });
  }

  interrupt(): Promise<void> {
    for (const socket of this.#sockets) socket.interrupt(ending);
    for (const request of this.#active) request.interrupt(ending);
    return this.#whenInactive();
  }

  close(): void {
    this.#closed = true;
    this.#server.close();
    this.#retired?.();
  }

  opened(remoteAddress: string): boolean {
    const { limits, proxies } = this.settings;
    const max = proxies.includes(remoteAddress) ? Number.POSITIVE_INFINITY : limits.connectionsPerClient;
    const used = this.#activeByAddress.of(remoteAddress) + this.#socketsByAddress.of(remoteAddress);
    if (this.#connections.admit(remoteAddress, used, max)) return true;
    const nowMs = performance.now();
    if (nowMs - this.#warnedAtMs >= warnEveryMs) {
      this.#warnedAtMs = nowMs;
      this.hooks.warn?.(
        `connections of ${remoteAddress} are rejected: it has ${max} open (LIMITS.connectionsPerClient)`,
      );
    }
    return false;
  }

  closed(): void {
    this.#connections.closed();
    if (this.#connections.open === 0) this.#retired?.();
  }

  requested(stream: HttpStream): void {
    const request = new ServedRequest(stream, this);
    request.number = this.add(request);
    request.begin();
  }

  rejection(remoteAddress: string): Rejection | undefined {
    return this.#activeByAddress.of(remoteAddress) > this.settings.limits.requestsPerClient
      ? tooManyRequests
      : undefined;
  }

  add(request: ActiveRequest): number {
    this.#served += 1;
    this.#active.add(request);
    if (!this.#isBusy && this.#active.size >= manyRequests) this.#setBusy(true);
    this.#activeByAddress.add(request.remoteAddress, 1);
    return this.#served;
  }

  release(request: ActiveRequest): void {
    this.#active.delete(request);
    if (this.#isBusy && this.#active.size <= fewRequests) this.#setBusy(false);
    this.#connections.used(request.connectionAddress);
    this.#activeByAddress.add(request.remoteAddress, -1);
    if (this.#active.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  admitsSocket(): boolean {
    return this.#sockets.size < this.settings.limits.webSockets;
  }

  openedSocket(socket: OpenSocket): void {
    if (this.#sockets.size === 0 && this.http.server === 'uws') {
      this.#unseenMemory.tick();
      this.#unseenTicker.add(this.#unseenMemory);
    }
    this.#sockets.add(socket);
    this.#socketsByAddress.add(socket.connectionAddress, 1);
  }

  closedSocket(socket: OpenSocket): void {
    if (!this.#sockets.delete(socket)) return;
    this.#socketsByAddress.add(socket.connectionAddress, -1);
    if (this.#sockets.size === 0) this.#unseenTicker.delete(this.#unseenMemory);
  }

  #retireSockets(): void {
    for (const socket of this.#sockets) socket.retire();
  }

  #setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.hooks.busy?.(isBusy);
  }

  async #whenInactive(): Promise<void> {
    if (this.#active.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}

/** Bytes beyond the largest message that are collected. */
const toldBytes = 1 << 20;

/** Active requests from which a listener is busy, and down to which it stays so. */
const manyRequests = 200;
const fewRequests = 100;

/** Rejected connections are reported at most this often, in milliseconds. */
const warnEveryMs = 60_000;

const retrySoon = { 'retry-after': '1' };

const ending: Fault = { kind: 'unavailable', message: 'The gateway is shutting down.', headers: retrySoon };

const tooManyRequests: Rejection = {
  fault: { kind: 'unavailable', message: 'This client has too many active requests.', headers: retrySoon },
  close: false,
};

const settingsOf = ({ router, apiKey, clients, guard, limits, ...options }: ServeOptions): ServeSettings => {
  const proxies = trustedProxies(options.proxies ?? []);
  return {
    router,
    admission: admission({ apiKey, clients, guard, proxies }),
    limits: { ...ownLimits, ...limits },
    proxies,
    keepAlive: options.keepAlive ?? true,
  };
};

/** Counts by name. */
class Counts {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, more: 1 | -1): void {
    const left = this.of(name) + more;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }
}

/** `localhost` resolves to either loopback address, so both are opened. */
const listenAddresses = (host: string): readonly [string, string?] =>
  host === '127.0.0.1' || host === 'localhost' ? ['127.0.0.1', '::1'] : [host.replace(/^\[(.*)\]$/, '$1')];

/**
 * Limits the connections per client address. uWebSockets.js doesn't report the address of a closed connection, so the count
 * is an upper bound: active requests plus connections used recently (idle ones are closed natively after 8 to 12 seconds).
 * Exact while only one address is connected; never too low.
 */
export class ConnectionLimit {
  #open = 0;
  #recent = new Map<string, number>();
  #earlier = new Map<string, number>();
  #recentFromMs = 0;

  /** Open connections of all addresses. */
  get open(): number {
    return this.#open;
  }

  /** Records a new connection. `active`: the address's active requests. `false`: the address has more than `max` connections. */
  admit(address: string, active: number, max: number): boolean {
    this.#open += 1;
    this.used(address);
    if (this.#open <= max) return true;
    return active + (this.#recent.get(address) ?? 0) + (this.#earlier.get(address) ?? 0) <= max;
  }

  /** Records the end of a request; its connection may stay open for a while. */
  used(address: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#recentFromMs > idleMs) {
      // After two spans all earlier connections have timed out.
      this.#earlier = nowMs - this.#recentFromMs > 2 * idleMs ? new Map() : this.#recent;
      this.#recent = new Map();
      this.#recentFromMs = nowMs;
    }
    this.#recent.set(address, (this.#recent.get(address) ?? 0) + 1);
  }

  /** Records a closed connection. */
  closed(): void {
    this.#open -= 1;
  }
}

/** The longest time an idle connection stays open, in milliseconds. */
const idleMs = 15_000;
