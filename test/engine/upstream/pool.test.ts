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

test('a call whose reused connection is reset is resent on a new connection, and counted', async (t) => {
  const upstream = await startUpstream((_request, count) => (count === 3 ? 'reset' : { pieces: ['a'] }));
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

test('… but only once', async (t) => {
  const upstream = await startUpstream((_request, count) => (count > 1 ? 'reset' : { pieces: ['a'] }));
  t.teardown(upstream.close);
  const upstreams = testUpstreams();
  await read(upstreams, callOf(upstream.url));
  t.is((await read(upstreams, callOf(upstream.url))).fault?.kind, 'upstream-cut');
  t.is(upstream.requests.length, 3);
});

test('… and not when the upstream may have begun to work: it took the whole request, or some time has passed', async (t) => {
  for (const how of ['close', 'reset'] as const) {
    const upstream = await startUpstream(async (_request, count) => {
      if (count === 1) return { pieces: ['a'] };
      if (how === 'reset') await new Promise((resolve) => setTimeout(resolve, 1200));
      return how;
    });
    t.teardown(upstream.close);
    const upstreams = testUpstreams();
    await read(upstreams, callOf(upstream.url));
    t.is((await read(upstreams, callOf(upstream.url))).fault?.kind, 'upstream-cut');
    t.is(upstream.requests.length, 2);
    t.is(upstreams.poolStats(new URL(upstream.url)).resent, 0);
  }
});

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
