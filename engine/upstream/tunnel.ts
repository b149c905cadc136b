import type { Socket } from 'node:net';
import { FaultError } from '../model/fault.ts';
import { portOf } from './address.ts';
import { proxyCredentials } from './proxy.ts';

/** How long a proxy's answer may be, in bytes. */
const maxHeadBytes = 16_384;

/**
 * Asks the proxy at the other end of `socket` to connect to `url`'s host; from then on the socket leads there. Calls `done`
 * once, with a fault when the proxy won't. Source: RFC 9110, section 9.3.6.
 */
export const tunnel = (socket: Socket, url: URL, proxy: URL, done: (fault?: FaultError) => void): void => {
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
      if (head.length > maxHeadBytes) refuse('answers in no readable way when asked to connect to');
      return;
    }
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, 12))?.[1];
    if (status === undefined) return refuse('answers in no readable way when asked to connect to');
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
