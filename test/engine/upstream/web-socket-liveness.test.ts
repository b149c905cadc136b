import test, { type ExecutionContext } from 'ava';
import { FaultError } from '../../../engine/model/fault.ts';
import { MemoryBudget } from '../../../engine/runtime/memory-budget.ts';
import type { UpstreamCall } from '../../../engine/upstream/upstreams.ts';
import { testTime } from '../../support/test-time.ts';
import { until } from '../../support/until.ts';
import { responseEvents, type SocketScript, startSocketUpstream } from '../../support/upstreams/socket-upstream.ts';
import { callOf, overSocket, start, testUpstreams } from './harness.ts';

/*
 * What becomes of a request whose WebSocket brings nothing, or far too much that isn't complete.
 */

/** Answers over HTTP; over WebSocket, it sends so many events and then nothing. */
const stalls =
  (events: number): SocketScript =>
  ({ over }) =>
    over === 'http'
      ? { events: responseEvents('resp_http', []) }
      : { events: responseEvents('resp_1', []).slice(0, events), ending: 'stall' };

const setUp = async (t: ExecutionContext, script: SocketScript = stalls(0)) => {
  const time = testTime();
  const upstreams = testUpstreams({ clock: time.clock, decompressedReplyBytes: 1 << 24 });
  const vendor = await startSocketUpstream({ script });
  t.teardown(async () => {
    await vendor.close();
    await upstreams.close();
  });
  const ask = (conversation: string, over: Partial<UpstreamCall> = {}) =>
    start(
      upstreams,
      callOf(vendor.url, {
        url: new URL('/v1/responses', vendor.url),
        body: JSON.stringify({ model: 'm', stream: true, input: [{ role: 'user', content: conversation }] }),
        socket: overSocket(conversation),
        ...over,
      }),
    );
  const ways = () => vendor.requests.map(({ over }) => over);
  /** The path is gone: what is sent arrives nowhere. */
  const lose = () => {
    for (const socket of vendor.open) socket.pause();
  };
  return { time, vendor, ask, ways, lose };
};

// One after the other, in a process of their own: calls take turns in reading, and one that waits for its turn isn't silent.
test.serial('a request on a connection whose path is gone is made over HTTP, after 20 seconds', async (t) => {
  const { time, vendor, ask, ways, lose } = await setUp(t);
  const { outcome } = ask('one');
  await until(() => ways().length === 1);
  await vendor.answered();
  lose();
  time.pass(19_999);
  t.deepEqual([ways(), vendor.open.size], [['socket'], 1]);
  time.pass(1);
  t.regex((await outcome).bytes.toString(), /resp_http.*response\.completed/s);
  t.deepEqual(ways(), ['socket', 'http']);
  t.is(time.timers(), 1, 'only the look for sleep is left');
});

test.serial('a request whose vendor answers pings goes on waiting, and its answer may pause', async (t) => {
  const { time, vendor, ask, ways } = await setUp(t);
  const asked = ask('one');
  await until(() => ways().length === 1);
  let pings = 0;
  for (const socket of vendor.open) socket.on('ping', () => (pings += 1));
  const wait = async () => {
    for (let round = 0; round < 10; round += 1) {
      time.pass(15_000);
      await vendor.answered();
    }
  };
  await wait();
  const [first, ...others] = responseEvents('resp_1', []).map((event) => JSON.stringify(event));
  const [socket] = vendor.open;
  socket?.send(first ?? '');
  await until(() => asked.chunks.length === 1);
  await wait();
  t.true(pings >= 20, `${pings} pings`);
  for (const event of others) socket?.send(event);
  t.regex((await asked.outcome).bytes.toString(), /response\.completed/);
  t.deepEqual(ways(), ['socket']);
});

test.serial(
  'an answer on a connection whose path is gone ends with an error after 20 seconds, not only after `idleMs`',
  async (t) => {
    const { time, vendor, ask, ways, lose } = await setUp(t, stalls(1));
    const asked = ask('one');
    await until(() => asked.chunks.length === 1);
    await vendor.answered();
    lose();
    time.pass(19_999);
    t.is(vendor.open.size, 1);
    time.pass(1);
    const { fault } = await asked.outcome;
    t.is(fault?.kind, 'upstream-cut');
    t.regex(fault?.message ?? '', /no sign of life for 20 s/);
    t.deepEqual(ways(), ['socket']);
  },
);

test.serial(
  'after a sleep, a connection has 20 seconds more, and its failure counts against no upstream',
  async (t) => {
    const { time, vendor, ask, lose } = await setUp(t, stalls(1));
    const asked = ask('one');
    await until(() => asked.chunks.length === 1);
    await vendor.answered();
    lose();
    time.pass(15_000);
    time.sleep(60_000);
    time.pass(19_999);
    t.is(vendor.open.size, 1);
    time.pass(1_001);
    t.is((await asked.outcome).fault?.countsAgainstHealth, false);
  },
);

test.serial("a connection with an unanswered ping isn't taken", async (t) => {
  const { time, vendor, ask, lose } = await setUp(t, (_, count) => ({ events: responseEvents(`resp_${count}`, []) }));
  await ask('one').outcome;
  await vendor.answered();
  lose();
  time.pass(30_000);
  t.regex((await ask('one').outcome).bytes.toString(), /response\.completed/);
  t.deepEqual(
    vendor.requests.map(({ connection }) => connection),
    [1, 2],
  );
});

test.serial('incomplete messages take memory that all calls share, until they are complete or given up', async (t) => {
  const { vendor, ask, ways } = await setUp(t);
  const budget = new MemoryBudget();
  const full = new FaultError({ kind: 'unavailable', message: 'full' });
  const calls = ['one', 'two'].map((name) => {
    const reservation = budget.reserve(1_000_000);
    const incomplete = (bytes: number) => (reservation.take(bytes - reservation.bytes) ? full : undefined);
    return ask(name, { socket: overSocket(name, incomplete) }).outcome;
  });
  await until(() => ways().length === 2);
  const part = Buffer.alloc(700_000, ' ');
  const [first, second] = vendor.open;
  first?.send(part, { binary: false, fin: false });
  await until(() => budget.usedBytes >= part.length);
  // Between the parts, which it doesn't complete.
  await vendor.answered();
  t.is(vendor.state.closed, 0);
  second?.send(part, { binary: false, fin: false });
  const { fault } = await Promise.race(calls);
  t.is(fault?.message, 'full');
  await until(() => vendor.open.size === 1);
  t.deepEqual(ways(), ['socket', 'socket'], 'over HTTP, it would need as much');
  for (const event of responseEvents('resp_1', [])) first?.send(JSON.stringify(event), { fin: true });
  const ends = await Promise.all(calls);
  t.is(ends.filter((end) => end.fault === undefined).length, 1);
  t.is(budget.usedBytes, 0);
});

test.serial('a connection that brings much between two responses is closed', async (t) => {
  const { vendor, ask } = await setUp(t, () => ({ events: responseEvents('resp_1', []) }));
  await ask('one').outcome;
  for (const socket of vendor.open) socket.send(Buffer.alloc(100_000), { binary: false, fin: false });
  await until(() => vendor.state.closed === 1);
  t.is(vendor.open.size, 0);
});
