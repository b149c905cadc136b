import { Observable } from 'rxjs';
import { fail } from '../model/fault.ts';
import type { Upstreams } from './call.ts';
import { Connections, type Occupancy, type Room } from './connections.ts';
import type { Patience } from './faults.ts';
import { type Environment, proxyFor } from './proxy.ts';
import { Transfer } from './transfer.ts';

/**
 * How upstreams are reached. undici keeps the two limits of `Patience` by a clock of its own that ticks twice a second: they
 * may be up to a second late, and 0 means none. Time in which a body is held back doesn't count.
 */
export interface UpstreamOptions extends Patience, Room {
  /** Until a connection is open, in milliseconds: name, TCP, proxy and TLS together. */
  readonly connectMs: number;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are looked up. */
  readonly environment: Environment;
}

const empty: Occupancy = { inUse: 0, idle: 0, waiting: 0, refused: 0 };

/** Connections to upstreams, made when they are first called. */
export const createUpstreams = (options: UpstreamOptions): Upstreams => {
  const origins = new Map<string, Connections>();
  let closing = false;

  const connectionsTo = (url: URL): Connections => {
    const known = origins.get(url.origin);
    if (known) return known;
    if (!/^https?:$/.test(url.protocol)) fail('misconfigured', `An upstream can't be called by ${url.protocol}//.`);
    const proxy = proxyFor(url, options.environment);
    const { connectMs } = options;
    const made = new Connections({ url, proxy, connectMs, sessions: { latest: undefined } }, options);
    origins.set(url.origin, made);
    if (closing) made.close();
    return made;
  };

  return {
    call: (call) =>
      new Observable((subscriber) => {
        const transfer = new Transfer(call, connectionsTo(call.url), options, subscriber);
        transfer.start();
        return () => transfer.abandon();
      }),
    occupancyOf: ({ origin }) => origins.get(origin)?.occupancy ?? empty,
    async close() {
      closing = true;
      await Promise.all([...origins.values()].map((connections) => connections.close()));
    },
  };
};
