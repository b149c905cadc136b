import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstream.ts';
import { callOf, read, start, testUpstreams } from './harness.ts';

test('a thousand calls one after the other share a connection and leave nothing behind', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 'b'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on('warning', warn);
  for (let count = 0; count < 1000; count += 1) {
    const { error, bytes } = await read(upstreams, callOf(upstream.url));
    if (error !== undefined || bytes.toString() !== 'ab') t.fail(String(error));
  }
  t.is(upstream.totalSockets, 1);
  t.is(upstream.openSockets, 1);
  process.off('warning', warn);
  t.deepEqual(warnings, [], 'no listeners pile up');
  await upstreams.close();
  await until(() => upstream.openSockets === 0);
});

test('calls at the same time have connections of their own, up to the limit', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: [30, 'a'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams({ connections: 3 });
  let most = 0;
  const calls = Array.from({ length: 10 }, () => start(upstreams, callOf(upstream.url)));
  const watch = setInterval(() => {
    most = Math.max(most, upstream.openSockets);
  }, 1);
  const outcomes = await Promise.all(calls.map(({ outcome }) => outcome));
  clearInterval(watch);
  t.true(outcomes.every(({ error, bytes }) => error === undefined && bytes.toString() === 'a'));
  t.is(most, 3);
  t.is(upstream.totalSockets, 3);
});

test('a connection is kept only after an answer that was read to its end', async (t) => {
  const upstream = await startUpstream((_request, count) => ({
    headers: count === 2 ? { connection: 'close' } : {},
    pieces: ['a'],
  }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  for (let count = 1; count <= 4; count += 1) {
    t.is((await read(upstreams, callOf(upstream.url))).error, undefined);
  }
  t.is(upstream.totalSockets, 2);
});

test('a connection that the upstream closed while idle is replaced unnoticed', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  await read(upstreams, callOf(upstream.url));
  upstream.closeIdle();
  await until(() => upstream.openSockets === 0);
  t.is((await read(upstreams, callOf(upstream.url))).error, undefined);
  t.is(upstream.requests.length, 2);
  t.is(upstreams.poolStats(new URL(upstream.url)).resent, 0);
});

for (const how of ['reset', 'close'] as const) {
  const verb = how === 'reset' ? 'is reset' : 'ends without a byte';

  test(`a call whose reused connection ${verb} is resent on a new connection, and counted`, async (t) => {
    const upstream = await startUpstream((_request, count) => (count === 3 ? how : { pieces: ['a'] }));
    t.teardown(upstream.close);
    const upstreams = testUpstreams();
    const resent = () => upstreams.poolStats(new URL(upstream.url)).resent;
    await Promise.all([read(upstreams, callOf(upstream.url)), read(upstreams, callOf(upstream.url))]);
    t.is(resent(), 0);
    const { error, bytes } = await read(upstreams, callOf(upstream.url, { body: '"again"' }));
    t.is(error, undefined);
    t.is(bytes.toString(), 'a');
    t.deepEqual(
      upstream.requests.slice(2).map(({ body }) => body),
      ['again', 'again'],
    );
    t.is(upstream.totalSockets, 3, 'the other idle connection is not trusted either');
    t.is(resent(), 1);
  });

  test(`… but only once: the new connection ${verb}, too`, async (t) => {
    const upstream = await startUpstream((_request, count) => (count > 1 ? how : { pieces: ['a'] }));
    t.teardown(upstream.close);
    const upstreams = testUpstreams();
    await read(upstreams, callOf(upstream.url));
    t.is((await read(upstreams, callOf(upstream.url))).fault?.kind, 'upstream-cut');
    t.is(upstream.requests.length, 3);
  });

  test(`… and not when the upstream may have begun to work: the connection ${verb} after more than a second`, async (t) => {
    const upstream = await startUpstream(async (_request, count) => {
      if (count === 1) return { pieces: ['a'] };
      await new Promise((resolve) => setTimeout(resolve, 1200));
      return how;
    });
    t.teardown(upstream.close);
    const upstreams = testUpstreams();
    await read(upstreams, callOf(upstream.url));
    t.is((await read(upstreams, callOf(upstream.url))).fault?.kind, 'upstream-cut');
    t.is(upstream.requests.length, 2);
    t.is(upstreams.poolStats(new URL(upstream.url)).resent, 0);
  });
}

test('an end after some bytes of an answer is never resent', async (t) => {
  for (const raw of ['HTTP/1.1 200 OK\r\nx-a: ', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'H']) {
    const upstream = await startUpstream((_request, count) => (count === 1 ? { pieces: ['a'] } : { raw }));
    t.teardown(upstream.close);
    const upstreams = testUpstreams();
    await read(upstreams, callOf(upstream.url));
    t.is((await read(upstreams, callOf(upstream.url))).fault?.kind, 'upstream-cut');
    t.is(upstream.requests.length, 2);
  }
});

test('an upstream that ends each reused connection without a byte serves every call, many at a time, too', async (t) => {
  const seen = new Set<Promise<void>>();
  const upstream = await startUpstream(({ closed }) => {
    if (seen.has(closed)) return 'close';
    seen.add(closed);
    return { pieces: ['a'] };
  });
  t.teardown(upstream.close);
  const upstreams = testUpstreams({ connections: 8 });
  for (let round = 0; round < 10; round += 1) {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => read(upstreams, callOf(upstream.url))));
    t.deepEqual(
      outcomes.filter(({ error }) => error !== undefined),
      [],
    );
    t.true(upstream.openSockets <= 8);
  }
  for (let count = 0; count < 50; count += 1) t.is((await read(upstreams, callOf(upstream.url))).error, undefined);
});

/** Upstreams whose clock the test sets. */
const clocked = () => {
  const clock = { ms: 0 };
  return { clock, upstreams: testUpstreams({ nowMs: () => clock.ms }) };
};

test('a connection idle for longer than its upstream keeps one is not used; how long that is, each close shows anew', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(upstream.close);
  const { clock, upstreams } = clocked();
  const call = async (afterMs: number) => {
    clock.ms += afterMs;
    t.is((await read(upstreams, callOf(upstream.url))).error, undefined);
    return upstream.totalSockets;
  };
  const closeIdle = async (afterMs: number) => {
    clock.ms += afterMs;
    upstream.closeIdle();
    const { idle } = upstreams.poolStats(new URL(upstream.url));
    await until(() => upstreams.poolStats(new URL(upstream.url)).idle < idle);
  };
  t.is(await call(0), 1);
  t.is(await call(25_000), 1, 'nothing is known');
  await closeIdle(5_000);
  t.is(await call(0), 2);
  t.is(await call(3_900), 2);
  t.is(await call(4_100), 3, 'too close to the 5 s');
  t.is(upstream.openSockets, 2, 'the other stays to be closed by the upstream');
  t.is(await call(4_100), 4);
  t.is(upstream.openSockets, 2, 'one at most stays');
  await closeIdle(6_800);
  t.is(await call(0), 5);
  t.is(await call(5_700), 5, 'the later close counts');
  t.is(upstreams.poolStats(new URL(upstream.url)).resent, 0);
});

test('a keep-alive header bounds how long a connection is used, also when the timers are late', async (t) => {
  const upstream = await startUpstream(() => ({ headers: { 'Keep-Alive': 'timeout=10, max=100' }, pieces: ['a'] }));
  t.teardown(upstream.close);
  const { clock, upstreams } = clocked();
  const sockets: number[] = [];
  for (const afterMs of [0, 8_900, 9_100, 8_900]) {
    clock.ms += afterMs;
    await read(upstreams, callOf(upstream.url));
    sockets.push(upstream.totalSockets);
  }
  t.deepEqual(sockets, [1, 1, 2, 2]);
});

for (const announces of [true, false]) {
  test(`a burst just after the idle limit of an upstream that ${announces ? 'announces it' : 'says nothing'} is served whole`, async (t) => {
    // Node's own server sends the header and closes one second later than it says.
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.end('a'));
    });
    server.keepAliveTimeout = 0;
    const keptMs = 1000;
    server.on('request', ({ socket }, response) => {
      if (announces) response.setHeader('keep-alive', `timeout=${keptMs / 1000}`);
      response.once('finish', () => socket.setTimeout(keptMs, () => socket.end()));
    });
    t.teardown(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A TCP server's address is always of this kind; `string` is for pipes.
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const upstreams = testUpstreams();
    t.teardown(() => upstreams.close());
    const burst = async () => {
      const outcomes = await Promise.all(Array.from({ length: 60 }, () => read(upstreams, callOf(url))));
      return outcomes.filter(({ error }) => error !== undefined);
    };
    for (const offsetMs of [-2, 0, 2]) {
      t.deepEqual(await burst(), []);
      await new Promise((resolve) => setTimeout(resolve, keptMs + offsetMs));
    }
    t.deepEqual(await burst(), []);
  });
}

test('closing waits for calls in flight, lets them finish and still serves late ones', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 100, 'b'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  await read(upstreams, callOf(upstream.url));
  const running = start(upstreams, callOf(upstream.url));
  await until(() => upstream.requests.length === 2);
  let closed = false;
  const closing = upstreams.close().then(() => {
    closed = true;
  });
  const late = read(upstreams, callOf(upstream.url));
  const elsewhere = read(upstreams, callOf(upstream.url.replace('127.0.0.1', 'localhost')));
  t.is((await running.outcome).bytes.toString(), 'ab');
  t.false(closed && upstream.openSockets > 1);
  t.is((await late).bytes.toString(), 'ab');
  await elsewhere;
  await closing;
  await upstreams.close();
  await until(() => upstream.openSockets === 0);
  t.pass();
});

test('closing with nothing in flight is immediate', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  await read(upstreams, callOf(upstream.url));
  await upstreams.close();
  await until(() => upstream.openSockets === 0);
  t.is(upstream.requests.length, 1);
});
