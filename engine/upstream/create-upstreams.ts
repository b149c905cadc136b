import { Observable } from 'rxjs';
import type { Environment } from '../config/env.ts';
import { fail } from '../model/fault.ts';
import { type SteadyClock, steadyClock } from '../runtime/steady-clock.ts';
import { CallHandler, type CallLimits, type CallTarget } from './call-handler.ts';
import { ConnectionPool, type PoolStats } from './pool.ts';
import { proxyFor } from './proxy.ts';
import type { Upstreams } from './upstreams.ts';

/**
 * How upstreams are reached. undici's timer for `idleMs` ticks twice a second, so it may be up to a second late; 0 disables it.
 * The time during which a body is paused doesn't count.
 */
export interface UpstreamOptions extends CallLimits {
  /** Time to open a connection, in milliseconds: DNS, TCP, proxy and TLS together. */
  readonly connectMs: number;
  /** The source of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly environment: Environment;
  /** Default: the machine's. */
  readonly clock?: SteadyClock;
}

const empty: PoolStats = { inUse: 0, idle: 0, waiting: 0, refused: 0, resent: 0 };

/** Creates the connections to upstreams; each connects on its first call. */
export const createUpstreams = (options: UpstreamOptions): Upstreams => {
  const { clock = steadyClock } = options;
  const pools = new Map<string, ConnectionPool>();
  const stopWatching = clock.onWake(() => {
    for (const pool of pools.values()) pool.wake();
  });
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
    const { connectMs } = options;
    const pool = new ConnectionPool({ url, proxy, connectMs, sessions: { latest: undefined } }, options, clock);
    pools.set(url.origin, pool);
    if (closing) pool.close();
    return pool;
  };

  return {
    call: (call) =>
      new Observable((subscriber) => {
        const limits = call.timeouts ? { ...options, ...call.timeouts } : options;
        return new CallHandler(call, targetOf(call.url), limits, clock, subscriber).start();
      }),
    poolStats: ({ origin }) => pools.get(origin)?.poolStats ?? empty,
    async close() {
      closing = true;
      stopWatching();
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
};
