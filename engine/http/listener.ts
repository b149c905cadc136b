import { keyCheck } from './api-key.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { freePort } from './free-port.ts';
import { type GuardSettings, guard } from './guard.ts';
import { addressText, readHead } from './head.ts';
import { inQuietMoment } from './in-quiet-moment.ts';
import { defaultLimits, type HttpLimits } from './limits.ts';
import { listenFailure, listenFault } from './listen-failure.ts';
import { loadUws, type Uws, type UwsApp, type UwsListenSocket, type UwsRequest, type UwsResponse } from './load-uws.ts';
import { Patience } from './patience.ts';
import type { Refusal } from './refusal.ts';
import { serveRequest } from './serve-request.ts';
import type { RequestHooks, ServeSettings } from './settings.ts';
import type { Site } from './site.ts';

/** What can be changed while a listener runs. */
export interface ServeOptions {
  readonly site: Site;
  readonly guard: GuardSettings;
  /** The key that clients must send; none is asked for when it is absent or empty. */
  readonly apiKey?: string | undefined;
  /** What is left out has its default. */
  readonly limits?: Partial<HttpLimits> | undefined;
}

/** Where to listen, and what to serve there at first. */
export interface ListenOptions extends ServeOptions {
  /** Address or name; `127.0.0.1` and `localhost` open `::1` too where the machine has it. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly hooks?: RequestHooks;
  /** Other processes of the same service may open the port too; absent: nobody else may. */
  readonly share?: PortSharing | undefined;
}

/** How a port is shared. */
export interface PortSharing {
  /** The addresses at which processes of this service have it open; absent: none has, so it must be free. */
  readonly addresses?: readonly string[] | undefined;
}

/** An open port. */
export interface Listener {
  readonly port: number;
  /** The addresses listened on: `127.0.0.1`, `::1`. */
  readonly addresses: readonly string[];
  readonly activeRequests: number;
  /** Applies to requests that come from now on. */
  readonly update: (options: ServeOptions) => void;
  /**
   * Stops accepting connections; on those that are open, only open endpoints still answer. Resolves when no request is at
   * work any more.
   */
  readonly drain: () => Promise<void>;
  /**
   * Stops accepting connections, since another process has the port open; requests on those that are open are still served,
   * each as its connection's last. Resolves when no connection is open any more; idle ones end by themselves within seconds.
   */
  readonly retire: () => Promise<void>;
  /** Cuts all connections. */
  readonly close: () => void;
}

/** Opens the port. Rejects with an error of one line when it can't be opened or no build of uWebSockets.js runs here. */
export const listen = async (options: ListenOptions): Promise<Listener> => {
  const { uws, warning } = loadUws();
  if (warning !== undefined) options.hooks?.warn?.(warning);
  const listener = new HttpListener(uws, options);
  await listener.open(options);
  return listener;
};

class HttpListener implements Listener {
  readonly #uws: Uws;
  readonly #app: UwsApp;
  readonly #hooks: RequestHooks;
  readonly #sockets: UwsListenSocket[] = [];
  readonly #activeByAddress = new Map<string, number>();
  readonly #idle: (() => void)[] = [];
  readonly #patience: Patience;
  readonly #connections = new ConnectionLimit();
  #settings: ServeSettings;
  #addresses: readonly string[] = [];
  #port = 0;
  #active = 0;
  #draining = false;
  #retiring = false;
  #closed = false;
  #retired: (() => void) | undefined;
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(uws: Uws, options: ListenOptions) {
    this.#uws = uws;
    this.#hooks = options.hooks ?? {};
    this.#settings = settingsOf(options);
    // The native timer runs for 8 to 12 seconds.
    this.#patience = new Patience(Math.min(4000, this.#settings.limits.bodyWindowMs / 2));
    this.#app = uws
      .App()
      .any('/*', (res, req) => this.#serve(res, req))
      .filter((res, change) => (change > 0 ? this.#opened(res) : this.#ended()));
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
      share && !shared ? listenFault(address, port) : undefined;
    const [first = host, second] = shared ?? listenAddresses(host);
    // One that the system chooses as it is opened isn't shared.
    const port = share && wanted === 0 ? await freePort(first) : wanted;
    const fault = await faultAt(first, port);
    const opened = fault === undefined ? this.#listen(first, port, share) : undefined;
    if (!opened) throw new Error(fault ?? (await listenFailure(first, port)));
    this.#port = this.#uws.us_socket_local_port(opened);
    const isDouble =
      second !== undefined &&
      (await faultAt(second, this.#port)) === undefined &&
      this.#listen(second, this.#port, share) !== undefined;
    this.#addresses = isDouble ? [first, second] : [first];
  }

  update(options: ServeOptions): void {
    this.#settings = settingsOf(options);
  }

  drain(): Promise<void> {
    this.#draining = true;
    for (const socket of this.#sockets.splice(0)) this.#uws.us_listen_socket_close(socket);
    if (this.#active === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
    });
  }

  async retire(): Promise<void> {
    this.#retiring = true;
    const sockets = this.#sockets.splice(0);
    await inQuietMoment(() => {
      // Closed already with all others, and gone.
      if (this.#closed) return;
      for (const socket of sockets) this.#uws.us_listen_socket_close(socket);
    });
    if (this.#closed || this.#connections.open === 0) return;
    await new Promise<void>((resolve) => {
      this.#retired = resolve;
    });
  }

  close(): void {
    this.#closed = true;
    this.#sockets.length = 0;
    this.#app.close();
    this.#retired?.();
  }

  #listen(host: string, port: number, share: PortSharing | undefined): UwsListenSocket | undefined {
    let opened: UwsListenSocket | undefined;
    // Calls back before it returns.
    this.#app.listen(host, port, share ? 0 : this.#uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket) opened = socket;
    });
    if (opened) this.#sockets.push(opened);
    return opened;
  }

  #serve(res: UwsResponse, req: UwsRequest): void {
    const head = readHead(res, req);
    const { remoteAddress } = head;
    this.#active += 1;
    this.#activeByAddress.set(remoteAddress, (this.#activeByAddress.get(remoteAddress) ?? 0) + 1);
    serveRequest(res, head, {
      settings: this.#settings,
      hooks: this.#hooks,
      patience: this.#patience,
      refusal: (address, open) => this.#refusal(address, open),
      release: () => this.#release(remoteAddress),
      retiring: () => this.#retiring,
    });
  }

  #opened(res: UwsResponse): void {
    const address = addressText(new Uint8Array(res.getRemoteAddress()));
    const max = this.#settings.limits.connectionsPerAddress;
    if (this.#connections.admit(address, this.#activeByAddress.get(address) ?? 0, max)) return;
    res.close();
    const nowMs = Date.now();
    if (nowMs - this.#warnedAtMs < warnEveryMs) return;
    this.#warnedAtMs = nowMs;
    this.#hooks.warn?.(`connections of ${address} are turned away: it has ${max} open (LIMITS.connectionsPerClient)`);
  }

  #ended(): void {
    this.#connections.closed();
    if (this.#connections.open === 0) this.#retired?.();
  }

  #refusal(remoteAddress: string, open: boolean): Refusal | undefined {
    if (this.#draining && !open) return draining;
    const active = this.#activeByAddress.get(remoteAddress) ?? 0;
    return active > this.#settings.limits.activePerAddress ? crowded : undefined;
  }

  #release(remoteAddress: string): void {
    this.#active -= 1;
    this.#connections.used(remoteAddress);
    const left = (this.#activeByAddress.get(remoteAddress) ?? 1) - 1;
    if (left > 0) this.#activeByAddress.set(remoteAddress, left);
    else this.#activeByAddress.delete(remoteAddress);
    if (this.#active === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** An address that keeps on trying is told of no more often than this. */
const warnEveryMs = 60_000;

const retrySoon = { 'retry-after': '1' };

const draining: Refusal = {
  fault: { kind: 'unavailable', message: 'The gateway is shutting down.', headers: retrySoon },
  close: true,
};

const crowded: Refusal = {
  fault: { kind: 'unavailable', message: 'Too many requests of this client are at work.', headers: retrySoon },
  close: false,
};

const settingsOf = (options: ServeOptions): ServeSettings => ({
  site: options.site,
  guard: guard(options.guard),
  hasKey: keyCheck(options.apiKey),
  limits: { ...defaultLimits, ...options.limits },
});

/** Clients that say `localhost` may try either loopback address first. */
const listenAddresses = (host: string): readonly [string, string?] =>
  host === '127.0.0.1' || host === 'localhost' ? ['127.0.0.1', '::1'] : [host.replace(/^\[(.*)\]$/, '$1')];
