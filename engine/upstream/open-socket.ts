import { isIP, connect as netConnect, type Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { FaultError } from '../model/fault.ts';
import { hostOf, portOf } from './address.ts';
import { connectFault, connectTimeout } from './faults.ts';
import { tunnel } from './tunnel.ts';

/** Where to connect to, and how. */
export interface Target {
  /** Only its scheme, host and port count. */
  readonly url: URL;
  readonly proxy: URL | undefined;
  /** How long it may take until requests can be sent, in milliseconds: name, TCP, proxy and TLS together. */
  readonly connectMs: number;
  /** TLS state by which the next connection of the same target begins faster. */
  readonly sessions: TlsSessions;
}

/** The newest TLS session of one target. */
export interface TlsSessions {
  latest: Buffer | undefined;
}

/** Takes the open socket, or the fault that prevented one. */
export type Opened = (outcome: Socket | FaultError) => void;

/**
 * Opens a socket on which HTTP/1.1 can be spoken with the target. Calls `opened` once. The function that it returns gives up
 * at once, at any stage; `opened` isn't called then.
 */
export const openSocket = (target: Target, opened: Opened): (() => void) => {
  const { url, proxy, connectMs, sessions } = target;
  let current: Socket | undefined;
  let settled = false;

  const settle = (outcome: Socket | FaultError) => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    if (outcome instanceof FaultError) current?.destroy();
    opened(outcome);
  };
  const timer = setTimeout(() => settle(connectTimeout(url.host, connectMs)), connectMs);

  /** Goes on with the socket once it is ready, by an event of this name. */
  const whenReady = (
    socket: Socket,
    ready: 'connect' | 'secureConnect',
    peer: string,
    next: (socket: Socket) => void,
  ) => {
    current = socket;
    socket.on('error', (error) => settle(connectFault(peer, error))).once(ready, () => next(socket));
  };
  const toUpstream = (socket: Socket) => {
    if (url.protocol !== 'https:') settle(socket);
    else whenReady(secure(socket, url, sessions), 'secureConnect', `upstream ${url.host}`, settle);
  };
  const throughProxy = (via: URL) => (socket: Socket) => {
    // Plain requests are given to a proxy as they are, by whole URLs; many let CONNECT reach port 443 alone.
    if (url.protocol !== 'https:') settle(socket);
    else tunnel(socket, url, via, (fault) => (fault ? settle(fault) : toUpstream(socket)));
  };

  if (proxy === undefined) {
    whenReady(plain(url), 'connect', `upstream ${url.host}`, toUpstream);
  } else {
    const peer = `proxy ${proxy.host}`;
    whenReady(plain(proxy), 'connect', peer, (socket) => {
      if (proxy.protocol === 'http:') throughProxy(proxy)(socket);
      else whenReady(secure(socket, proxy, { latest: undefined }), 'secureConnect', peer, throughProxy(proxy));
    });
  }
  return () => {
    settled = true;
    clearTimeout(timer);
    current?.destroy();
  };
};

const plain = (url: URL): Socket =>
  netConnect({
    host: hostOf(url),
    port: portOf(url),
    noDelay: true,
    // For `EndGate`.
    allowHalfOpen: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    // Node gives a host's first address 250 ms, fewer than a far one needs when its other address can't be reached at all.
    autoSelectFamilyAttemptTimeout: 1000,
  });

const secure = (socket: Socket, url: URL, sessions: TlsSessions): TLSSocket => {
  const host = hostOf(url);
  const { latest: session } = sessions;
  return tlsConnect({
    socket,
    host,
    servername: isIP(host) ? '' : host,
    ALPNProtocols: ['http/1.1'],
    ...(session && { session }),
  }).on('session', (fresh) => {
    sessions.latest = fresh;
  });
};
