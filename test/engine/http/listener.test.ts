import { connect, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { NEVER, Observable, of, Subject, take, throwError } from 'rxjs';
import { defaultSettings } from '../../../engine/config/sections/service-settings.ts';
import { chooseServer } from '../../../engine/http/choose-server.ts';
import type { HttpRequest, ReplyPart, WholeReply } from '../../../engine/http/endpoint.ts';
import { listen } from '../../../engine/http/listener.ts';
import { createRouter } from '../../../engine/http/router.ts';
import type { RequestInfo, RequestOutcome } from '../../../engine/http/settings.ts';
import { FaultError } from '../../../engine/model/fault.ts';
import { until } from '../../support/until.ts';
import { echo, endpoint, headerOf, plainWording, raw, serve, statusesOf, text, wording } from './rig.ts';

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const post = (path: string, body: string, headers = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;

const hello = endpoint(() => of(text('hello')));
const openHello = endpoint(() => of(text('open')), { open: true });

test('a request reaches its endpoint with all that was sent', async (t) => {
  const seen: (readonly [incoming: HttpRequest, params: unknown])[] = [];
  const keep = endpoint((incoming, params) => {
    seen.push([incoming, params]);
    return of(text('ok'));
  });
  const { port } = await serve(t, [{ method: 'POST', path: '/preset/:preset/v1', endpoint: keep }]);
  const before = Date.now();
  await raw(port, post('/preset/a%2Cb/v1?beta=true&x=%20', '{"a":1}', 'X-Request-Id: r1\r\nX-A: 1\r\nX-A: 2\r\n'));
  t.is(seen.length, 1);
  const [[incoming, params] = []] = seen;
  if (!incoming) return t.fail();
  t.true(incoming.startedAtMs >= before && incoming.startedAtMs <= Date.now());
  t.truthy(incoming.backpressure);
  t.like(incoming, {
    id: 'r1',
    method: 'POST',
    path: '/preset/a%2Cb/v1',
    query: 'beta=true&x=%20',
    remoteAddress: '127.0.0.1',
  });
  t.deepEqual(
    { ...incoming.headers },
    { host: 'localhost', 'content-length': '7', 'x-request-id': 'r1', 'x-a': '1, 2' },
  );
  t.is(incoming.header('x-a'), '1, 2');
  t.is(Buffer.from(incoming.body).toString(), '{"a":1}');
  t.deepEqual(params, { preset: 'a,b' });
});

test('checks come in order: framing, host, key, path and method, body', async (t) => {
  const rows = [
    { method: 'POST', path: '/v1/messages', endpoint: { ...echo, formatFault: wording('messages') } },
    { method: 'GET', path: '/health', endpoint: openHello },
  ];
  const { port } = await serve(t, rows, { apiKey: 'k', limits: { bodyBytes: 10 } });
  const key = 'x-api-key: k\r\n';
  const evil = (request: string) => request.replace('Host: localhost', 'Host: evil.com');
  const long = 'a'.repeat(11);
  const cases: readonly (readonly [string, string, number, string])[] = [
    ['framing before host', evil(post('/v1/messages', 'abc', 'Content-Length: 4\r\n')), 400, ''],
    ['host before key', evil(post('/v1/messages', 'a')), 403, 'messages'],
    ['host for open paths too', evil(get('/health')), 403, 'default'],
    ['origin', post('/v1/messages', 'a', `${key}Origin: https://evil.com\r\n`), 403, 'messages'],
    [
      'a form post',
      post('/v1/messages', 'a', 'Content-Type: text/plain\r\nSec-Fetch-Site: cross-site\r\n'),
      403,
      'messages',
    ],
    ['no key', post('/v1/messages', 'a'), 401, 'messages'],
    ['wrong key before body', post('/v1/messages', long, 'Authorization: Bearer x\r\n'), 401, 'messages'],
    ['no key, unknown path', get('/nothing'), 401, 'default'],
    ['no key, other method', get('/v1/messages'), 401, 'messages'],
    ['no key, open path, other method', post('/health', ''), 401, 'default'],
    ['key, unknown path', get('/nothing', key), 404, 'default'],
    ['key, near a path', get('/v1/messages/x', key), 404, 'messages'],
    ['key, other method before body', `PUT${post('/v1/messages', long, key).slice(4)}`, 405, 'messages'],
    ['key, long body', post('/v1/messages', long, key), 413, 'messages'],
    ['all well', post('/v1/messages', 'a', 'Authorization: Bearer k\r\n'), 200, ''],
    ['open', get('/health'), 200, ''],
    ['a key is no harm', get('/health', 'x-api-key: wrong\r\n'), 200, ''],
  ];
  for (const [title, request, status, by] of cases) {
    const { text } = await raw(port, request);
    t.deepEqual(statusesOf(text), [status], title);
    if (by) t.true(text.includes(`"by":"${by}"`), title);
  }
});

test('a rejection in the format of its path has the request id and the keep-alive state', async (t) => {
  const { port } = await serve(t, [{ method: 'POST', path: '/v1', endpoint: hello }], { apiKey: 'k' });
  const unauthorized = await raw(port, get('/v1', 'X-Request-Id: r7\r\n'));
  t.is(headerOf(unauthorized.text, 'www-authenticate'), 'Bearer');
  t.is(headerOf(unauthorized.text, 'x-request-id'), 'r7');
  t.is(headerOf(unauthorized.text, 'request-id'), 'r7');
  t.is(headerOf(unauthorized.text, 'content-type'), 'application/json; charset=utf-8');
  t.true(unauthorized.text.includes('"requestId":"r7"'));
  const wrongMethod = await raw(port, get('/v1', 'x-api-key: k\r\nX-Request-Id: a b\r\n'));
  t.is(headerOf(wrongMethod.text, 'allow'), 'POST');
  t.regex(headerOf(wrongMethod.text, 'x-request-id') ?? '', /^req_[0-9a-f]{24}$/);
  t.is(headerOf(wrongMethod.text, 'access-control-allow-origin'), undefined);
});

test('a WebSocket gets 426 at once where only plain requests are served, and its connection is closed', async (t) => {
  const { port } = await serve(t, [
    { method: 'POST', path: '/v1/responses', endpoint: hello },
    { method: 'GET', path: '/', endpoint: hello },
  ]);
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  const refused = await raw(port, get('/v1/responses', upgrade), 10_000);
  t.deepEqual(statusesOf(refused.text), [426]);
  t.true(refused.closed);
  t.is(headerOf(refused.text, 'upgrade'), 'HTTP/1.1');
  t.regex(refused.text, /^connection: upgrade\r$/im, 'what the upgrade header asks for');
  t.regex(refused.text, /^connection: close\r$/im);
  t.regex(refused.text, /"kind":"upgrade-refused"/);
  const unknown = await raw(port, get('/other', upgrade));
  t.deepEqual(statusesOf(unknown.text), [404]);
  t.true(unknown.closed);
  t.deepEqual(statusesOf((await raw(port, get('/', upgrade))).text), [200], 'an upgrade may be ignored');
  // Source: the HTTP client of Java, which asks for HTTP/2 with each first request.
  const other = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\n';
  const posted = await raw(port, post('/v1/responses', 'body', other));
  t.deepEqual([statusesOf(posted.text), posted.closed], [[200], false], 'so may one to another protocol');
});

test('HEAD gets the headers of a GET, and the connection stays open', async (t) => {
  const streamed = endpoint(() =>
    of<ReplyPart[]>({ type: 'head', status: 200, headers: {} }, { type: 'data', data: 'x' }),
  );
  const { port } = await serve(t, [
    { method: 'GET', path: '/', endpoint: hello },
    { method: 'GET', path: '/stream', endpoint: streamed },
    { method: 'POST', path: '/post', endpoint: hello },
  ]);
  const head = (path: string) => get(path).replace('GET', 'HEAD');
  const { text: answer, closed } = await raw(port, head('/') + head('/stream') + head('/post') + get('/'));
  t.deepEqual(statusesOf(answer), [200, 200, 405, 200]);
  t.is(headerOf(answer, 'content-length'), '5');
  t.is(answer.match(/hello/g)?.length, 1);
  t.false(answer.includes('"kind"'));
  t.false(closed);
});

test('connections are kept, and requests with immediate responses may be pipelined', async (t) => {
  const { port } = await serve(t, [{ method: 'POST', path: '/echo', endpoint: echo }]);
  const { text: answer, closed } = await raw(port, post('/echo', 'one') + post('/echo', 'two') + post('/echo', ''));
  t.deepEqual(statusesOf(answer), [200, 200, 200]);
  t.true(answer.includes('one') && answer.includes('two'));
  t.false(closed);
});

test('a request pipelined behind an active one waits with node:http, as long as there are few', async (t) => {
  const answers = new Subject<WholeReply>();
  let begun = 0;
  const slow = endpoint(() => {
    begun += 1;
    return answers.pipe(take(1));
  });
  const listener = await serve(t, [{ method: 'POST', path: '/slow', endpoint: slow }], {
    server: chooseServer('node'),
  });
  const both = raw(listener.port, post('/slow', 'one') + post('/slow', 'two'), 500);
  for (const count of [1, 2]) {
    await until(() => begun === count);
    answers.next(text(`answer ${count}`));
  }
  t.regex((await both).text, /answer 1[\s\S]*answer 2/);
  const { text: none, closed } = await raw(listener.port, post('/slow', 'x').repeat(20), 2_000);
  t.is(none, '');
  t.true(closed);
  await until(() => listener.activeRequests === 0);
});

test('a request pipelined behind an active one closes the connection with uWebSockets.js, and both are released', async (t) => {
  if (chooseServer().facts.server !== 'uws') return t.pass();
  let unsubscribed = 0;
  const slow = endpoint(() => new Observable(() => () => (unsubscribed += 1)));
  const listener = await serve(t, [{ method: 'GET', path: '/slow', endpoint: slow }]);
  const { text: answer, closed } = await raw(listener.port, get('/slow') + get('/slow'));
  t.is(answer, '');
  t.true(closed);
  t.is(unsubscribed, 1);
  t.is(listener.activeRequests, 0);
});

test('S11 heads of 60 KiB pass, larger ones get 431', async (t) => {
  const { port } = await serve(t, [{ method: 'GET', path: '/', endpoint: hello }]);
  t.deepEqual(statusesOf((await raw(port, get('/', `X: ${'a'.repeat(60 * 1024)}\r\n`))).text), [200]);
  t.deepEqual(statusesOf((await raw(port, get('/', `X: ${'a'.repeat(70 * 1024)}\r\n`))).text), [431]);
});

test('IPv6 loopback is served beside IPv4', async (t) => {
  const listener = await serve(t, [{ method: 'GET', path: '/', endpoint: hello }]);
  if (!listener.addresses.includes('::1')) {
    t.deepEqual(listener.addresses, ['127.0.0.1']);
    return;
  }
  const answer = await raw(listener.port, get('/').replace('localhost', `[::1]:${listener.port}`), 150, '::1');
  t.deepEqual(statusesOf(answer.text), [200]);
});

test('a host without a loopback twin opens one address', async (t) => {
  const listener = await serve(t, [], { host: '127.0.0.2' });
  t.deepEqual(listener.addresses, ['127.0.0.2']);
});

test('a busy port is an error of one line', async (t) => {
  const base = {
    host: '127.0.0.1',
    router: createRouter([], plainWording),
    guard: { host: '127.0.0.1', allowedHosts: [] },
    limits: defaultSettings().limits,
  };
  const first = await serve(t, []);
  const message = /^Can't listen: port \d+ on 127\.0\.0\.1 is in use\..*$/;
  await t.throwsAsync(listen({ ...base, port: first.port }), { message });
  const other = createServer();
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => {
      const address = other.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  await t.throwsAsync(listen({ ...base, port }), { message });
  other.close();
  await t.throwsAsync(listen({ ...base, host: '192.0.2.1', port: 0 }), { message: /not an address of this machine/ });
});

test('routes, key and limits change at run time', async (t) => {
  const listener = await serve(t, [{ method: 'POST', path: '/', endpoint: echo }]);
  const asked = post('/', 'abc');
  t.deepEqual(statusesOf((await raw(listener.port, asked)).text), [200]);
  const next = createRouter(
    [{ method: 'POST', path: '/', endpoint: { ...echo, formatFault: wording('next') } }],
    plainWording,
  );
  listener.update({
    router: next,
    guard: { host: '127.0.0.1', allowedHosts: ['new.lan'] },
    apiKey: 'k',
    limits: { ...defaultSettings().limits, bodyBytes: 2 },
  });
  const without = await raw(listener.port, asked);
  t.deepEqual(statusesOf(without.text), [401]);
  t.true(without.text.includes('"by":"next"'));
  const withKey = post('/', 'abc', 'x-api-key: k\r\n').replace('localhost', 'new.lan');
  t.deepEqual(statusesOf((await raw(listener.port, withKey)).text), [413]);
});

/** A connection on which requests follow each other. */
const openConnection = (t: ExecutionContext, port: number) => {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let received = '';
  socket.on('data', (data) => {
    received += data;
  });
  return { socket, received: () => received };
};

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(false);
    }).once('error', () => resolve(true));
  });

test('a leaving listener takes connections; a draining one serves those it has; each answer is the last of its own', async (t) => {
  const done = new Subject<WholeReply>();
  const listener = await serve(t, [
    { method: 'GET', path: '/slow', endpoint: endpoint(() => done.pipe(take(1))) },
    { method: 'GET', path: '/quick', endpoint: hello },
  ]);
  const slow = openConnection(t, listener.port);
  slow.socket.write(get('/slow'));
  await until(() => listener.activeRequests === 1);
  const kept = openConnection(t, listener.port);
  // Answered once, so that the connection is sure to be accepted before draining.
  kept.socket.write(get('/quick'));
  await until(() => statusesOf(kept.received()).length === 1);
  t.is(headerOf(kept.received(), 'connection'), undefined);
  listener.disableKeepAlive();
  const late = await raw(listener.port, get('/quick'));
  t.deepEqual(statusesOf(late.text), [200]);
  t.is(headerOf(late.text, 'connection'), 'close');
  let drained = false;
  const draining = listener.drain().then(() => {
    drained = true;
  });
  await until(() => isRefused(listener.port));
  kept.socket.write(get('/quick'));
  await until(() => kept.socket.closed || kept.socket.readableEnded);
  t.deepEqual(statusesOf(kept.received()), [200, 200]);
  t.regex(kept.received(), /connection: close/i);
  t.false(drained);
  done.next(text('done'));
  await draining;
  await until(() => slow.received().endsWith('done'));
  t.is(listener.activeRequests, 0);
});

test('an interrupted request gets a fault, whatever it waits for', async (t) => {
  const head: ReplyPart = { type: 'head', status: 200, headers: {} };
  const listener = await serve(t, [
    { method: 'GET', path: '/never', endpoint: endpoint(() => NEVER) },
    { method: 'POST', path: '/body', endpoint: hello },
    {
      method: 'GET',
      path: '/stream',
      endpoint: endpoint(
        (request) =>
          new Observable((subscriber) => {
            subscriber.next(head);
            subscriber.next({ type: 'data', data: 'begun ' });
            request.onInterrupted(({ kind }) => {
              subscriber.next({ type: 'data', data: kind });
              subscriber.complete();
            });
          }),
      ),
    },
  ]);
  const answers = [
    get('/never'),
    'POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf',
    get('/stream'),
  ].map((request) => raw(listener.port, request, 2000));
  await until(() => listener.activeRequests === 3);
  await listener.interrupt();
  listener.close();
  const [never, body, stream] = await Promise.all(answers);
  t.deepEqual(statusesOf(never?.text ?? ''), [503]);
  t.deepEqual(statusesOf(body?.text ?? ''), [503]);
  t.regex(stream?.text ?? '', /begun [\s\S]*unavailable[\s\S]*\r\n0\r\n\r\n$/);
  await t.notThrowsAsync(listener.interrupt(), 'none is active');
});

test('a client that ends its side has left', async (t) => {
  const listener = await serve(t, [{ method: 'GET', path: '/never', endpoint: endpoint(() => NEVER) }]);
  const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true }, () =>
    socket.write(get('/never')),
  );
  t.teardown(() => socket.destroy());
  socket.resume();
  await until(() => listener.activeRequests === 1);
  socket.end();
  await until(() => listener.activeRequests === 0);
  t.is(listener.activeRequests, 0);
});

test('a listener that closes ends idle and active connections', async (t) => {
  const listener = await serve(t, [
    { method: 'GET', path: '/', endpoint: hello },
    { method: 'GET', path: '/never', endpoint: endpoint(() => NEVER) },
  ]);
  const sockets = ['/', '/never'].map((path) => {
    const socket = connect(listener.port, '127.0.0.1', () => socket.write(get(path)));
    return socket.on('error', () => {});
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all([until(() => (sockets[0]?.bytesRead ?? 0) > 0), until(() => listener.activeRequests === 1)]);
  for (const socket of sockets) socket.resume();
  listener.close();
  await until(() => sockets.every(({ closed }) => closed));
  t.is(listener.activeRequests, 0);
});

test('draining an idle listener is done at once', async (t) => {
  const listener = await serve(t, []);
  await t.notThrowsAsync(listener.drain());
});

test('S11 active requests of one address are limited', async (t) => {
  const slow = endpoint(() => NEVER);
  const listener = await serve(
    t,
    [
      { method: 'GET', path: '/slow', endpoint: slow },
      { method: 'GET', path: '/', endpoint: hello },
    ],
    { limits: { requestsPerClient: 2 } },
  );
  const sockets = [1, 2].map(() => connect(listener.port, '127.0.0.1'));
  for (const socket of sockets) socket.write(get('/slow'));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await until(() => listener.activeRequests === 2);
  for (const attempt of ['first', 'second']) {
    const refused = await raw(listener.port, get('/'), 50);
    t.deepEqual(statusesOf(refused.text), [503], attempt);
    t.is(headerOf(refused.text, 'retry-after'), '1');
  }
  for (const socket of sockets) socket.destroy();
  await until(() => listener.activeRequests === 0);
  t.deepEqual(statusesOf((await raw(listener.port, get('/'))).text), [200]);
});

test('each request is reported once, with its status', async (t) => {
  const started: RequestInfo[] = [];
  const records: (RequestInfo & RequestOutcome)[] = [];
  const bugs: unknown[] = [];
  const bug = new Error('secret inside');
  const listener = await serve(
    t,
    [
      { method: 'GET', path: '/', endpoint: hello },
      { method: 'GET', path: '/never', endpoint: endpoint(() => NEVER) },
      {
        method: 'GET',
        path: '/throws',
        endpoint: endpoint(() => {
          throw bug;
        }),
      },
      {
        method: 'GET',
        path: '/fails',
        endpoint: endpoint(() =>
          throwError(() => new FaultError({ kind: 'unavailable', message: 'm', headers: { 'retry-after': '9' } })),
        ),
      },
    ],
    {
      hooks: {
        started: (request) => started.push(request),
        finished: (request, outcome) => records.push({ ...request, ...outcome }),
        failed: (error) => bugs.push(error),
      },
    },
  );
  const throwing = await raw(listener.port, get('/throws'));
  const failing = await raw(listener.port, get('/fails'));
  await raw(listener.port, get('/?q=1', 'X-Request-Id: r1\r\n'));
  await raw(listener.port, get('/nothing'));
  await raw(listener.port, get('/never'), 50);
  await until(() => records.length === 5);
  t.deepEqual(
    records.map(({ method, path, status, aborted, remoteAddress }) => [method, path, status, aborted, remoteAddress]),
    [
      ['GET', '/throws', 500, false, '127.0.0.1'],
      ['GET', '/fails', 503, false, '127.0.0.1'],
      ['GET', '/', 200, false, '127.0.0.1'],
      ['GET', '/nothing', 404, false, '127.0.0.1'],
      ['GET', '/never', 499, true, '127.0.0.1'],
    ],
  );
  t.is(records[2]?.id, 'r1');
  t.is(started[2]?.query, 'q=1');
  t.deepEqual(
    started.map(({ id }) => id),
    records.map(({ id }) => id),
  );
  t.true((records[4]?.durationMs ?? 0) >= 30);
  t.deepEqual(bugs, [bug]);
  t.false(throwing.text.includes('secret'));
  t.is(headerOf(failing.text, 'retry-after'), '9');
});

test('a listener reports when many requests are active, and when few are again', async (t) => {
  const busy: boolean[] = [];
  const never = { method: 'GET', path: '/', endpoint: endpoint(() => NEVER) };
  const listener = await serve(t, [never], { hooks: { busy: (isBusy) => busy.push(isBusy) } });
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const grow = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const socket = connect(listener.port, '127.0.0.1', () => socket.write(get('/')));
      sockets.push(socket);
    }
    await until(() => listener.activeRequests === sockets.length);
  };
  const shrink = async (count: number) => {
    for (const socket of sockets.splice(0, count)) socket.destroy();
    await until(() => listener.activeRequests === sockets.length);
  };
  await grow(199);
  t.deepEqual(busy, []);
  await grow(1);
  t.deepEqual(busy, [true]);
  await shrink(99);
  await grow(99);
  t.deepEqual(busy, [true], 'between the two bounds, it stays busy');
  await shrink(100);
  t.deepEqual(busy, [true, false]);
  await grow(99);
  t.is(busy.length, 2);
  await grow(1);
  t.deepEqual(busy, [true, false, true]);
});
