import { connect, type Socket } from 'node:net';
import test from 'ava';
import { of } from 'rxjs';
import { defaultSettings } from '../../../engine/config/sections/service-settings.ts';
import { ConnectionLimit } from '../../../engine/http/listener.ts';
import { until } from '../../support/until.ts';
import { endpoint, serve, text } from './rig.ts';

test('S11 the limit is exact for one address, and others are accepted while one exceeds it', (t) => {
  const limit = new ConnectionLimit();
  t.true(limit.admit('a', 0, 2));
  t.true(limit.admit('a', 0, 2));
  t.false(limit.admit('a', 0, 2));
  limit.closed();
  t.true(limit.admit('b', 0, 2), 'the third connection, but the first of its address');
  t.is(limit.open, 3);
  for (let at = 0; at < 3; at += 1) limit.closed();
  for (let at = 0; at < 100; at += 1) {
    t.true(limit.admit('a', 0, 2), 'an address that opens and closes many has few');
    limit.closed();
  }
  t.is(limit.open, 0);
});

test('S11 active requests count, regardless of the age of their connections', (t) => {
  const limit = new ConnectionLimit();
  for (let at = 0; at < 5; at += 1) limit.admit('b', 0, 5);
  t.false(limit.admit('a', 5, 5));
  limit.closed();
  t.true(limit.admit('a', 3, 5));
});

test('S11 no more than the limit of connections of one client address, 1,024 by default; another address is still served', async (t) => {
  t.is(defaultSettings().limits.connectionsPerClient, 1024);
  const limit = 64;
  const warnings: string[] = [];
  const { port } = await serve(t, [{ method: 'GET', path: '/', endpoint: endpoint(() => of(text('hi'))) }], {
    hooks: { warn: (line) => warnings.push(line) },
    // So few are open long before the silent ones among them are given up, after some eight seconds.
    limits: { connectionsPerClient: limit },
  });
  const sockets: Socket[] = [];
  let closed = 0;
  const open = (localAddress: string): Socket => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => {});
    socket.on('close', () => {
      closed += 1;
    });
    sockets.push(socket);
    return socket;
  };
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let count = 0; count < limit + 20; count += 1) open('127.0.0.1');
  await until(() => closed >= 20);
  t.deepEqual(warnings, [`connections of 127.0.0.1 are rejected: it has ${limit} open (LIMITS.connectionsPerClient)`]);
  if (process.platform !== 'linux') return;
  let answer = '';
  const other = open('127.0.0.2');
  other.on('data', (data) => {
    answer += data;
  });
  other.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => answer.endsWith('hi'));
  t.pass();
});

test('S12 a head that arrives too slowly, or not at all, closes the connection', async (t) => {
  const { port } = await serve(t, [{ method: 'GET', path: '/', endpoint: endpoint(() => of(text('hi'))) }]);
  /** In half seconds that this process has seen: those in which a busy machine gives it no time don't count. */
  const lifetime = (first: string, more: string): Promise<number> =>
    new Promise((resolve) => {
      let lived = 0;
      const socket = connect(port, '127.0.0.1', () => socket.write(first));
      const dripping = setInterval(() => {
        lived += 1;
        socket.write(more);
      }, 500);
      socket.resume();
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(dripping);
        resolve(lived);
      });
    });
  const get = 'GET / HTTP/1.1\r\n';
  const lives = await Promise.all([
    lifetime('', ''),
    lifetime(get, ''),
    lifetime(get, 'X'),
    lifetime(get, 'X: y\r\n'),
    lifetime(`${get}Host: localhost\r\n\r\n`, ''),
  ]);
  // The native timer has steps of four seconds.
  for (const lived of lives) t.true(lived < 28, `${lived} half seconds`);
});
