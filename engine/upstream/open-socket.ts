import { isIP, connect as netConnect, type Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { FaultError } from '../model/fault.ts';
import { connectFault, connectTimeout } from './faults.ts';
import { proxyCredentials } from './proxy.ts';
import { hostOf, portOf } from './url.ts';

/** The target of a connection, and its TLS options. */
export interface SocketTarget {
  /** Only its scheme, host and port count. */
  readonly url: URL;
  readonly proxy: URL | undefined;
  /** Time limit in milliseconds: DNS, TCP, proxy and TLS together. */
  readonly connectMs: number;
  /** The TLS session with which the next connection to the target resumes. */
  readonly sessions: TlsSessions;
}

/** The newest TLS session of one target. */
interface TlsSessions {
  latest: Buffer | undefined;
}

/** Receives the open socket, or the fault that prevented it. */
type Opened = (outcome: Socket | FaultError) => void;

/**
 * Opens a socket for HTTP/1.1 to the target. Calls `opened` once. The returned function cancels at any stage; `opened` isn't
 * called then.
 */
export const openSocket = (target: SocketTarget, opened: Opened): (() => void) => {
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

  /** Calls `next` when the socket emits `ready`. */
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
    // Plain HTTP requests go to the proxy in absolute form; many proxies allow CONNECT only to port 443.
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
    // Node's default of 250 ms is too short for a distant host whose other address is unreachable.
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

/** The longest head of a proxy's answer, in bytes. */
const maxHeadBytes = 16_384;

/**
 * Opens a tunnel to `url`'s host through the proxy that `socket` is connected to. Calls `done` once, with a fault if the proxy
 * refuses. Source: RFC 9110, section 9.3.6.
 */
const tunnel = (socket: Socket, url: URL, proxy: URL, done: (fault?: FaultError) => void): void => {
  const refuse = (words: string) =>
    finish(new FaultError({ kind: 'upstream-unreachable', message: `The proxy ${proxy.host} ${words} ${url.host}.` }));
  const finish = (fault?: FaultError) => {
    socket.off('data', read).off('end', ended);
    socket.pause();
    done(fault);
  };
  const ended = () => refuse('closed the connection instead of connecting to');

  let head = Buffer.alloc(0);
  const read = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) {
      if (head.length > maxHeadBytes) refuse('sent an invalid response when asked to connect to');
      return;
    }
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, 12))?.[1];
    if (status === undefined) return refuse('sent an invalid response when asked to connect to');
    if (!status.startsWith('2')) return refuse(`answered with status ${status} when asked to connect to`);
    if (head.length > end + 4) socket.unshift(head.subarray(end + 4));
    finish();
  };

  socket.on('data', read).once('end', ended);
  const authority = `${url.hostname}:${portOf(url)}`;
  const credentials = proxyCredentials(proxy);
  const authorization = credentials === undefined ? '' : `proxy-authorization: ${credentials}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${authorization}\r\n`);
};
