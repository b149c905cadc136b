import { from, mergeMap, Observable } from 'rxjs';
import type { Environment } from '../config/env.ts';
import { fail } from '../model/fault.ts';
import { loadOnce } from '../runtime/load-once.ts';
import { type SteadyClock, steadyClock } from '../runtime/steady-clock.ts';
import { CallHandler, type CallLimits, type CallTarget } from './call-handler.ts';
import { type OpenClient, openUndici } from './connection.ts';
import type { SocketTarget } from './open-socket.ts';
import { ConnectionPool, type PoolStats } from './pool.ts';
import { proxyFor } from './proxy.ts';
import type { CallSocket, UpstreamAnswer, UpstreamCall, Upstreams, UpstreamTimeouts } from './upstreams.ts';
import type { SocketCalls } from './web-socket/socket-calls.ts';

/**
 * How upstreams are reached. undici's timer for `idleMs` ticks twice a second, so it may be up to a second late; 0 disables it.
 * The time during which a body is paused doesn't count.
 */
export interface UpstreamOptions extends CallLimits, UpstreamTimeouts {
  /** The source of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly environment: Environment;
  /** Default: the machine's. */
  readonly clock?: SteadyClock;
  /** Default: undici. */
  readonly openClient?: OpenClient;
}

const empty: PoolStats = { inUse: 0, idle: 0, waiting: 0, refused: 0, resent: 0 };

/** Creates the connections to upstreams; each connects on its first call. */
export const createUpstreams = (options: UpstreamOptions): Upstreams => {
  const { clock = steadyClock, openClient = openUndici } = options;
  const pools = new Map<string, ConnectionPool>();
  const stopWatching = clock.onWake(() => {
    for (const pool of pools.values()) pool.wake();
  });
  /** The limits of the next call. */
  let current: CallLimits & UpstreamTimeouts = options;
  const poolLimits = {
    connectionsPerProvider: options.connectionsPerProvider,
    queuePerProvider: options.queuePerProvider,
    get queueMs() {
      return current.queueMs;
    },
  };
  let closing = false;

  /** Plans share their URLs, whose parts would be cut out again for each call. */
  const targets = new WeakMap<URL, CallTarget>();
  const targetOf = (url: URL): CallTarget => {
    const target = targets.get(url) ?? { pool: poolFor(url), path: url.pathname + url.search };
    targets.set(url, target);
    return target;
  };

  const socketTargets = new Map<string, SocketTarget>();
  const socketTargetOf = (url: URL): SocketTarget => {
    const known = socketTargets.get(url.origin);
    if (known) return known;
    if (!/^https?:$/.test(url.protocol)) fail('misconfigured', `An upstream can't be called by ${url.protocol}//.`);
    const proxy = proxyFor(url, options.environment);
    const target: SocketTarget = {
      url,
      proxy,
      get connectMs() {
        return current.connectMs;
      },
      sessions: { latest: undefined },
    };
    socketTargets.set(url.origin, target);
    return target;
  };

  const poolFor = (url: URL): ConnectionPool => {
    const known = pools.get(url.origin);
    if (known) return known;
    const pool = new ConnectionPool(socketTargetOf(url), poolLimits, clock, openClient);
    pools.set(url.origin, pool);
    if (closing) pool.close();
    return pool;
  };

  const callOverHttp = (call: UpstreamCall): Observable<UpstreamAnswer> =>
    new Observable((subscriber) => {
      const limits = call.timeouts ? { ...current, ...call.timeouts } : current;
      return new CallHandler(call, targetOf(call.url), limits, clock, subscriber).start();
    });

  let sockets: SocketCalls | undefined;
  const loadSockets = loadOnce(async () => {
    const module = await import('./web-socket/socket-calls.ts');
    sockets = new module.SocketCalls({
      get options() {
        return current;
      },
      clock,
      overHttp: callOverHttp,
      targetOf: socketTargetOf,
    });
    if (closing) void sockets.close();
    return sockets;
  });
  const callOverSocket = (call: UpstreamCall, socket: CallSocket): Observable<UpstreamAnswer> =>
    sockets?.call(call, socket) ?? from(loadSockets()).pipe(mergeMap((loaded) => loaded.call(call, socket)));

  return {
    call: (call) => (call.socket ? callOverSocket(call, call.socket) : callOverHttp(call)),
    poolStats: ({ origin }) => pools.get(origin)?.poolStats ?? empty,
    adjust(timeouts) {
      current = { ...current, ...timeouts };
    },
    closeIdleSockets: (origins) => sockets?.dropIdle(origins),
    async close() {
      closing = true;
      stopWatching();
      await Promise.all([sockets?.close(), ...[...pools.values()].map((pool) => pool.close())]);
    },
  };
};
