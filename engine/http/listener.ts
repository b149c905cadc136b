import { keyCheck } from './api-key.ts';
import { freePort, listenFailure, listenFault, whenIdle } from './bind.ts';
import { BodyBudget } from './body-budget.ts';
import { ConnectionLimit } from './connection-limit.ts';
import type { Rejection } from './endpoint.ts';
import { type OriginGuardSettings, originGuard } from './origin-guard.ts';
import type { HttpRouter } from './router.ts';
import { ServedRequest, type ServingListener } from './serve-request.ts';
import { defaultLimits, type HttpLimits, type RequestHooks, type ServeSettings } from './settings.ts';
import type { HttpServer, HttpServerEvents, HttpStream } from './stream.ts';
import { Ticker } from './ticker.ts';
import { loadUws } from './uws.ts';
import { UwsServer } from './uws-server.ts';

/** Settings that can change while a listener runs. */
interface ServeOptions {
  readonly router: HttpRouter;
  readonly guard: OriginGuardSettings;
  /** The key that clients must send; absent or empty: no key is required. */
  readonly apiKey?: string | undefined;
  /** Omitted limits have their defaults. */
  readonly limits?: Partial<HttpLimits> | undefined;
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
}

/** How a port is shared. */
export interface PortSharing {
  /** Addresses at which processes of this service have the port open; absent: the port must be free. */
  readonly addresses?: readonly string[] | undefined;
  /** Other addresses at which they have the same port open and are about to close it. */
  readonly beside?: readonly string[] | undefined;
}

/** An open port. */
export interface Listener {
  readonly port: number;
  /** The addresses listened on: `127.0.0.1`, `::1`. */
  readonly addresses: readonly string[];
  readonly activeRequests: number;
  /** Applies to new requests. */
  readonly update: (options: ServeOptions) => void;
  /**
   * Stops accepting connections. On open connections only endpoints with `open` still answer. Resolves when no request is
   * active.
   */
  readonly drain: () => Promise<void>;
  /**
   * Stops accepting connections when another process serves the port. Requests on open connections are still served, each
   * as the last on its connection. Resolves when all connections are closed; idle ones time out within seconds.
   */
  readonly retire: () => Promise<void>;
  /** Closes all connections at once. */
  readonly close: () => void;
}

/** Opens the port. Rejects with a one-line error when the port can't be opened or no build of uWebSockets.js runs here. */
export const listen = async (options: ListenOptions): Promise<Listener> => {
  const { uws, warning } = loadUws();
  if (warning !== undefined) options.hooks?.warn?.(warning);
  const listener = new HttpListener((events) => new UwsServer(uws, events), options);
  await listener.open(options);
  return listener;
};

class HttpListener implements Listener, ServingListener, HttpServerEvents {
  readonly hooks: RequestHooks;
  readonly ticker: Ticker;
  readonly bodies = new BodyBudget();
  settings: ServeSettings;
  retiring = false;
  readonly #server: HttpServer;
  readonly #activeByAddress = new Map<string, number>();
  readonly #idle: (() => void)[] = [];
  readonly #connections = new ConnectionLimit();
  #addresses: readonly string[] = [];
  #port = 0;
  #active = 0;
  #served = 0;
  #draining = false;
  #closed = false;
  #retired: (() => void) | undefined;
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(createServer: (events: HttpServerEvents) => HttpServer, options: ListenOptions) {
    this.hooks = options.hooks ?? {};
    this.settings = settingsOf(options);
    // Each tick keeps a waiting connection open; the server's own timeouts are at least 8 seconds.
    this.ticker = new Ticker(Math.min(4000, this.settings.limits.bodyWindowMs / 2));
    this.#server = createServer(this);
  }

  get port(): number {
    return this.#port;
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  get activeRequests(): number {
    return this.#active;
  }

  async open({ host, port: wanted, share }: Pick<ListenOptions, 'host' | 'port' | 'share'>): Promise<void> {
    const shared = share?.addresses;
    const faultAt = async (address: string, port: number): Promise<string | undefined> =>
      share && !shared ? listenFault(address, port, share.beside) : undefined;
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

  drain(): Promise<void> {
    this.#draining = true;
    this.#server.stopAccepting();
    if (this.#active === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
    });
  }

  async retire(): Promise<void> {
    this.retiring = true;
    await whenIdle(() => this.#server.stopAccepting());
    if (this.#closed || this.#connections.open === 0) return;
    await new Promise<void>((resolve) => {
      this.#retired = resolve;
    });
  }

  close(): void {
    this.#closed = true;
    this.#server.close();
    this.#retired?.();
  }

  opened(remoteAddress: string): boolean {
    const max = this.settings.limits.connectionsPerAddress;
    if (this.#connections.admit(remoteAddress, this.#activeByAddress.get(remoteAddress) ?? 0, max)) return true;
    const nowMs = Date.now();
    if (nowMs - this.#warnedAtMs >= warnEveryMs) {
      this.#warnedAtMs = nowMs;
      this.hooks.warn?.(
        `connections of ${remoteAddress} are turned away: it has ${max} open (LIMITS.connectionsPerClient)`,
      );
    }
    return false;
  }

  closed(): void {
    this.#connections.closed();
    if (this.#connections.open === 0) this.#retired?.();
  }

  requested(stream: HttpStream): void {
    const { remoteAddress } = stream;
    this.#active += 1;
    this.#served += 1;
    this.#activeByAddress.set(remoteAddress, (this.#activeByAddress.get(remoteAddress) ?? 0) + 1);
    new ServedRequest(stream, this.#served, this).begin();
  }

  rejection(remoteAddress: string, open: boolean): Rejection | undefined {
    if (this.#draining && !open) return draining;
    const active = this.#activeByAddress.get(remoteAddress) ?? 0;
    return active > this.settings.limits.activePerAddress ? tooManyRequests : undefined;
  }

  release(remoteAddress: string): void {
    this.#active -= 1;
    this.#connections.used(remoteAddress);
    const left = (this.#activeByAddress.get(remoteAddress) ?? 1) - 1;
    if (left > 0) this.#activeByAddress.set(remoteAddress, left);
    else this.#activeByAddress.delete(remoteAddress);
    if (this.#active === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** Rejected connections are reported at most this often, in milliseconds. */
const warnEveryMs = 60_000;

const retrySoon = { 'retry-after': '1' };

const draining: Rejection = {
  fault: { kind: 'unavailable', message: 'The gateway is shutting down.', headers: retrySoon },
  close: true,
};

const tooManyRequests: Rejection = {
  fault: { kind: 'unavailable', message: 'This client has too many active requests.', headers: retrySoon },
  close: false,
};

const settingsOf = (options: ServeOptions): ServeSettings => ({
  router: options.router,
  guard: originGuard(options.guard),
  hasKey: keyCheck(options.apiKey),
  limits: { ...defaultLimits, ...options.limits },
});

/** `localhost` resolves to either loopback address, so both are opened. */
const listenAddresses = (host: string): readonly [string, string?] =>
  host === '127.0.0.1' || host === 'localhost' ? ['127.0.0.1', '::1'] : [host.replace(/^\[(.*)\]$/, '$1')];
