import { createServer, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { performance } from 'node:perf_hooks';
import { errorCode } from '../model/fault.ts';

/** Explains in one line why a port can't be opened. The native listener reports no reason, so Node.js tries again. */
export const listenFailure = async (host: string, port: number): Promise<string> =>
  describeFailure(host, port, (await attempt(host, port)) ?? 'EADDRINUSE');

/**
 * Explains in one line why a port can't be opened exclusively; `undefined`: it can. Required before sharing a port: the
 * native listener would otherwise share it with any other program that does. `own`: addresses at which this service already
 * has the port open.
 */
export const listenFault = async (
  host: string,
  port: number,
  own: readonly string[] = [],
): Promise<string | undefined> => {
  // An address that overlaps one of our own can't be tried; try the other addresses that it covers.
  const asked = own.some((address) => overlap(address, host)) ? addressesOf(host, own) : [host];
  for (const address of asked) {
    const code = await attempt(address, port);
    if (code !== undefined && (address === host || code === 'EADDRINUSE')) return describeFailure(address, port, code);
  }
  return undefined;
};

/**
 * Says in one line that another program has the port at the IPv6 loopback address, while this service has the IPv4 one alone: a client
 * that calls `localhost` may reach either. `undefined`: none has.
 */
export const otherAtLocalhost = async (addresses: readonly string[], port: number): Promise<string | undefined> => {
  if (addresses.some((address) => address.includes(':'))) return undefined;
  if (!addresses.some((address) => address.startsWith('127.') || isAny(address))) return undefined;
  if ((await attempt('::1', port)) !== 'EADDRINUSE') return undefined;
  return `another program listens at [::1]:${port}, and clients that call localhost may reach it: call 127.0.0.1, or configure another PORT`;
};

/** Whether the same port at both addresses conflicts. `::` includes IPv4. */
const overlap = (one: string, other: string): boolean =>
  one === other || one === '::' || other === '::' || (isIPv4(one) && isIPv4(other) && (isAny(one) || isAny(other)));

const isAny = (address: string): boolean => address === '0.0.0.0' || address === '::';

/** The machine's addresses that a wildcard covers, without our own. */
const addressesOf = (host: string, own: readonly string[]): readonly string[] =>
  isAny(host) && !own.some(isAny)
    ? Object.values(networkInterfaces())
        .flatMap((rows) => rows ?? [])
        .filter(({ address, scopeid }) => !own.includes(address) && !scopeid && (host === '::' || isIPv4(address)))
        .map(({ address }) => address)
    : [];

const describeFailure = (host: string, port: number, code: string): string => {
  const address = `port ${port} on ${host}`;
  if (code === 'EADDRINUSE') {
    return `Can't listen: ${address} is in use. Stop the program that uses it, or configure another PORT.`;
  }
  if (code === 'EACCES') return `Can't listen: ${address} is not permitted for this user.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `Can't listen: ${host} is not an address of this machine. Check HOST in the configuration.`;
  }
  return `Can't listen: ${address} can't be opened (${code}).`;
};

/** The error code of opening the port with Node.js; `undefined`: it could be opened. */
const attempt = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(errorCode(error) ?? 'unknown'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });

/** A port that is free at an address now; 0 when there is none or no such address. */
export const freePort = (host: string): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(0));
    server.listen({ host, port: 0, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

/** The longest event loop phase that counts as idle, in milliseconds. */
const idlePhaseMs = 0.03;
/** Milliseconds between two checks. */
const pauseMs = 2;
/** The longest wait for an idle moment, in milliseconds. */
const maxWaitMs = 5_000;

/**
 * Calls `act` right after an idle poll phase of the event loop, or after five seconds. For closing a listening socket: the
 * kernel resets connections in its accept queue, which fills while the loop is busy and is empty after an idle poll.
 */
export const whenIdle = (act: () => void): Promise<void> =>
  new Promise((resolve) => {
    const startedAtMs = performance.now();
    const check = (): void => {
      const beforeMs = performance.now();
      // Runs after the poll phase, in which connections are accepted.
      setImmediate(() => {
        const nowMs = performance.now();
        if (nowMs - beforeMs > idlePhaseMs && nowMs - startedAtMs < maxWaitMs) {
          setTimeout(check, pauseMs);
          return;
        }
        act();
        resolve();
      });
    };
    check();
  });
