import test from 'ava';
import type { UpstreamOptions } from '../../../engine/upstream/create-upstreams.ts';
import { classifyFailure } from '../../../engine/upstream/health/failure-class.ts';
import { testTime } from '../../support/test-time.ts';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstreams/upstream.ts';
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
  const upstreams = testUpstreams({ connectionsPerProvider: 3 });
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
    const { upstreams } = clocked();
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
    const { time, upstreams } = clocked();
    const upstream = await startUpstream(async (_request, count) => {
      if (count === 1) return { pieces: ['a'] };
      time.pass(1_001);
      // The body is released behind the events of its turn.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      return how;
    });
    t.teardown(upstream.close);
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
  const { upstreams } = clocked({ connectionsPerProvider: 8 });
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
const clocked = (options: Partial<UpstreamOptions> = {}) => {
  const time = testTime();
  return { time, upstreams: testUpstreams({ ...options, clock: time.clock }) };
};

test('each queued call waits for the same time, in which a sleep does not count', async (t) => {
  let release = (): void => undefined;
  const upstream = await startUpstream(
    () =>
      new Promise((resolve) => {
        release = () => resolve({ pieces: ['a'] });
      }),
  );
  t.teardown(upstream.close);
  const { time, upstreams } = clocked({ connectionsPerProvider: 1, queueMs: 5_000 });
  const stats = () => upstreams.poolStats(new URL(upstream.url));
  const first = start(upstreams, callOf(upstream.url));
  await until(() => upstream.requests.length === 1);
  const second = start(upstreams, callOf(upstream.url));
  time.pass(3_000);
  const third = start(upstreams, callOf(upstream.url));
  time.sleep(15_000);
  time.pass(1_999);
  t.like(stats(), { waiting: 2, refused: 0 });
  time.pass(1);
  t.is((await second.outcome).fault?.code, 'queue_timeout');
  t.like(stats(), { waiting: 1, refused: 1 });
  release();
  t.is((await first.outcome).error, undefined);
  await until(() => upstream.requests.length === 2);
  release();
  time.pass(5_000);
  t.is((await third.outcome).error, undefined, 'its timer ended with its wait');
  t.like(stats(), { waiting: 0, refused: 1 });
});

test('a connection idle for longer than its upstream keeps one is not used; how long that is, each close shows anew', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(upstream.close);
  const { time, upstreams } = clocked();
  const call = async (afterMs: number) => {
    time.pass(afterMs);
    t.is((await read(upstreams, callOf(upstream.url))).error, undefined);
    return upstream.totalSockets;
  };
  const closeIdle = async (afterMs: number) => {
    time.pass(afterMs);
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
  const { time, upstreams } = clocked();
  const sockets: number[] = [];
  for (const afterMs of [0, 8_900, 9_100, 8_900]) {
    time.pass(afterMs);
    await read(upstreams, callOf(upstream.url));
    sockets.push(upstream.totalSockets);
  }
  t.deepEqual(sockets, [1, 1, 2, 2]);
});

test('a burst at the moment at which the upstream closes its idle connections is served whole', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(upstream.close);
  const upstreams = testUpstreams();
  t.teardown(() => upstreams.close());
  const burst = () => Promise.all(Array.from({ length: 60 }, () => read(upstreams, callOf(upstream.url))));
  for (const closesFirst of [true, false, true]) {
    await burst();
    if (closesFirst) upstream.closeIdle();
    const outcomes = burst();
    if (!closesFirst) upstream.closeIdle();
    t.deepEqual(
      (await outcomes).filter(({ error }) => error !== undefined),
      [],
    );
  }
  t.true(upstreams.poolStats(new URL(upstream.url)).resent > 0);
});

test('after a sleep, idle connections are not used: the first call does not wait on a dead one', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(upstream.close);
  const { time, upstreams } = clocked();
  for (const jump of [() => time.sleep(3_600_000), () => time.pass(15_000), () => time.setBack(3_600_000)]) {
    t.is((await read(upstreams, callOf(upstream.url))).error, undefined);
    jump();
  }
  t.is((await read(upstreams, callOf(upstream.url))).error, undefined);
  t.is(upstream.totalSockets, 2, 'only the sleep counts');
});

for (const [when, plan, served] of [
  ['before its answer', 'never', ''],
  ['in the middle of its answer', { pieces: ['a'], finish: 'stall' }, 'a'],
] as const) {
  test(`a call that a sleep interrupts ${when} fails soon if nothing more comes, and no breaker counts it`, async (t) => {
    const upstream = await startUpstream(() => plan);
    t.teardown(upstream.close);
    const { time, upstreams } = clocked({ firstByteMs: 7_200_000, idleMs: 7_200_000 });
    const { outcome, chunks } = start(upstreams, callOf(upstream.url));
    await until(() => upstream.requests.length === 1 && Buffer.concat(chunks).toString() === served);
    time.sleep(600_000);
    time.pass(21_000);
    const { fault, bytes } = await outcome;
    t.is(bytes.toString(), served);
    t.is(fault?.kind, 'upstream-cut');
    t.regex(fault?.message ?? '', /was lost while this machine slept/);
    t.is(fault && classifyFailure(fault), 'busy');
  });
}

test('a call that a sleep interrupts goes on if its upstream does, or after a clock that was set', async (t) => {
  let goOn: (() => void) | undefined;
  const isAwake = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const pieces = async function* () {
    yield 'a';
    await isAwake;
    yield* ['b', 'c'];
  };
  const upstream = await startUpstream(() => ({ pieces: pieces() }));
  t.teardown(upstream.close);
  const { time, upstreams } = clocked();
  const { outcome, chunks } = start(upstreams, callOf(upstream.url));
  await until(() => chunks.length === 1);
  time.setBack(3_600_000);
  time.pass(60_000);
  time.sleep(600_000);
  time.pass(1_000);
  goOn?.();
  await until(() => Buffer.concat(chunks).toString() === 'abc');
  time.pass(21_000);
  t.is((await outcome).error, undefined);
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
