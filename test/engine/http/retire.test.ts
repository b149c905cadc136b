import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { concat, map, type Observable, of, Subject, take, timer } from 'rxjs';
import { defaultSettings } from '../../../engine/config/sections/service-settings.ts';
import { freePort } from '../../../engine/http/bind.ts';
import type { ReplyPart } from '../../../engine/http/endpoint.ts';
import type { Listener, PortSharing } from '../../../engine/http/listener.ts';
import { createRouter } from '../../../engine/http/router.ts';
import { until } from '../../support/until.ts';
import { endpoint, headerOf, plainWording, raw, serve, statusesOf, text } from './rig.ts';

/** Over `node:http`, a port is shared between worker processes alone, which service/workers/restart.test.ts covers. */
const testShared = process.env.JUNCTOR_HTTP === 'node' ? test.skip : test;

const head: ReplyPart = { type: 'head', status: 200, headers: { 'content-type': 'text/plain' } };
const data = (text: string): ReplyPart => ({ type: 'data', data: text });

const rows = (name: string, secondPiece: Observable<unknown> = timer(150)) => [
  { method: 'GET', path: '/who', endpoint: endpoint(() => of(text(name))) },
  { method: 'GET', path: '/large', endpoint: endpoint(() => of(text(name.repeat(200_000)))) },
  {
    method: 'GET',
    path: '/slow',
    endpoint: endpoint(() =>
      concat(
        of(head, data('one ')),
        secondPiece.pipe(
          take(1),
          map(() => data('two')),
        ),
      ),
    ),
  },
];

const open = (
  t: ExecutionContext,
  name: string,
  port: number,
  share: PortSharing,
  secondPiece?: Observable<unknown>,
): Promise<Listener> => serve(t, rows(name, secondPiece), { port, share });

interface Answer {
  readonly text: string;
  readonly connection: string | undefined;
}

const get = (port: number, path: string, agent: Agent | false = false): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent }, (response) => {
      let got = '';
      response.on('data', (piece) => {
        got += piece;
      });
      response.once('end', () => resolve({ text: got, connection: response.headers.connection }));
      response.once('error', reject);
    })
      .once('error', reject)
      .end();
  });

testShared('uWebSockets.js: a port is shared only within a group', async (t) => {
  const port = await freePort('127.0.0.1');
  const first = await open(t, 'first', port, {});
  const second = await open(t, 'second', port, { addresses: first.addresses });
  t.is(second.port, port);
  t.deepEqual(second.addresses, first.addresses);
  const got = new Set<string>();
  for (let count = 0; count < 200 && got.size < 2; count += 1) got.add((await get(port, '/who')).text);
  t.deepEqual([...got].sort(), ['first', 'second']);
  await t.throwsAsync(open(t, 'stranger', port, {}), { message: /is in use/ });
  await t.throwsAsync(serve(t, rows('loner'), { port }), { message: /is in use/ });
});

test('an exclusive listener does not share its port', async (t) => {
  const { port } = await serve(t, rows('alone'));
  await t.throwsAsync(open(t, 'other', port, {}), { message: /is in use/ });
  await t.throwsAsync(open(t, 'other', port, { addresses: ['127.0.0.1'] }), { message: /is in use/ });
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => server.close());
  const address = server.address();
  const taken = typeof address === 'object' && address ? address.port : 0;
  await t.throwsAsync(open(t, 'other', taken, {}), { message: /is in use/ });
});

testShared('uWebSockets.js: a port that the system chose can be shared', async (t) => {
  const first = await open(t, 'first', 0, {});
  t.true(first.port > 0);
  t.is((await open(t, 'second', first.port, { addresses: first.addresses })).port, first.port);
});

testShared(
  'uWebSockets.js: a retiring listener accepts no new connection, finishes its streams, and serves open connections once more',
  async (t) => {
    const secondPiece = new Subject<void>();
    const first = await open(t, 'first', 0, {}, secondPiece);
    const { port } = first;
    const agent = new Agent({ keepAlive: true });
    t.teardown(() => agent.destroy());
    t.is((await get(port, '/who', agent)).text, 'first');
    const slow = get(port, '/slow');
    await until(() => secondPiece.observed);
    await open(t, 'second', port, { addresses: first.addresses });
    let retired = false;
    const retiring = first.retire().then(() => {
      retired = true;
    });
    // The system may still give connections to the first for a moment; one that goes on taking them never lets this end.
    // All at once: on a busy machine, one after the other takes longer than the kept connection may be idle.
    await until(async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => get(port, '/who')));
      return answers.every(({ text }) => text === 'second');
    });
    t.false(retired, 'a stream is at work, and a connection is kept');
    secondPiece.next();
    t.is((await slow).text, 'one two');
    t.deepEqual(await get(port, '/who', agent), { text: 'first', connection: 'close' });
    await retiring;
    t.is((await get(port, '/who', agent)).text, 'second', 'the connection is a new one');
  },
);

test('responses of every kind are marked as the last of their connection, and are complete', async (t) => {
  for (const path of ['/who', '/slow', '/large', '/nothing']) {
    const listener = await open(t, 'x', 0, {});
    const { port } = listener;
    const agent = new Agent({ keepAlive: true });
    await get(port, '/who', agent);
    const retiring = listener.retire();
    await new Promise((resolve) => setTimeout(resolve, 30));
    const { text: got, connection } = await get(port, path, agent);
    t.is(connection, 'close', path);
    if (path === '/slow') t.is(got, 'one two');
    if (path === '/large') t.is(got.length, 200_000);
    await retiring;
    agent.destroy();
  }
});

test('without kept connections, each answer is the last of its own, until that is changed', async (t) => {
  const listener = await serve(t, rows('x'), { keepAlive: false });
  const { port } = listener;
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  for (const path of ['/who', '/slow', '/large', '/nothing']) t.is((await get(port, path, agent)).connection, 'close');
  listener.update({
    router: createRouter(rows('x'), plainWording),
    guard: { host: '127.0.0.1', allowedHosts: [] },
    limits: defaultSettings().limits,
  });
  t.not((await get(port, '/who', agent)).connection, 'close');
});

test('a listener that does not retire leaves connections open', async (t) => {
  const { port } = await serve(t, rows('x'));
  const { text: got, closed } = await raw(port, 'GET /who HTTP/1.1\r\nHost: localhost\r\n\r\n');
  t.deepEqual(statusesOf(got), [200]);
  t.is(headerOf(got, 'connection'), undefined);
  t.false(closed);
});
