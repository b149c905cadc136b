import test, { type ExecutionContext } from 'ava';
import { Exporter, type ExporterClock } from '../../../../engine/features/telemetry/exporter.ts';
import type { Span } from '../../../../engine/features/telemetry/otlp.ts';
import { batchMs, maxBatchSpans, maxQueuedSpans, SpanQueue } from '../../../../engine/features/telemetry/span-queue.ts';
import { createUpstreams } from '../../../../engine/upstream/create-upstreams.ts';
import { until } from '../../../support/until.ts';
import { type Reaction, type Script, startUpstream } from '../../../support/upstreams/upstream.ts';

/** A clock whose timers run when the test says so. */
const manualClock = () => {
  const timers = new Map<symbol, { readonly task: () => void; readonly ms: number }>();
  const clock: ExporterClock = {
    nowMs: () => 0,
    random: () => 1,
    later(task, ms) {
      const id = Symbol(String(ms));
      timers.set(id, { task, ms });
      return () => timers.delete(id);
    },
  };
  return {
    clock,
    waits: () => [...timers.values()].map(({ ms }) => ms),
    /** Runs the timers of this length. */
    fire(ms: number) {
      for (const [id, timer] of [...timers]) {
        if (timer.ms !== ms) continue;
        timers.delete(id);
        timer.task();
      }
    },
  };
};

const tryMs = 10_000;

const open = async (t: ExecutionContext, script: Script) => {
  const collector = await startUpstream(script);
  t.teardown(collector.close);
  const upstreams = createUpstreams({
    connectMs: 5_000,
    firstByteMs: 60_000,
    idleMs: 60_000,
    callMs: 0,
    connectionsPerProvider: 1,
    queuePerProvider: 1,
    queueMs: 5_000,
    decompressedReplyBytes: 1 << 20,
    environment: {},
  });
  const time = manualClock();
  const exporter = new Exporter({
    upstreams,
    url: new URL(`${collector.url}/v1/traces`),
    headers: { authorization: 'Bearer t' },
    clock: time.clock,
    rejectedCount: 'rejectedSpans',
  });
  t.teardown(() => exporter.close());
  return { collector, exporter, time };
};

test('a body is sent once, with the headers, over one connection', async (t) => {
  const { collector, exporter, time } = await open(t, () => ({ pieces: ['{}'] }));
  for (const body of ['{"a":1}', '{"b":2}']) t.deepEqual(await exporter.send(body), { type: 'sent', rejected: 0 });
  t.deepEqual(
    collector.requests.map(({ url, text, headers }) => [url, text, headers['content-type'], headers.authorization]),
    ['{"a":1}', '{"b":2}'].map((text) => ['/v1/traces', text, 'application/json', 'Bearer t']),
  );
  t.is(collector.totalSockets, 1);
  t.deepEqual(time.waits(), []);
});

test('429, 502, 503 and 504 are tried again, with growing waits or the one asked for', async (t) => {
  const answers: readonly Reaction[] = [
    { status: 503 },
    { status: 429, headers: { 'retry-after': '7' } },
    { status: 504 },
    { status: 502, headers: { 'retry-after': '999999' } },
    { status: 200 },
  ];
  const { collector, exporter, time } = await open(t, (_, count) => answers[count - 1] ?? { status: 200 });
  const sent = exporter.send('{}');
  for (const wait of [1_000, 7_000, 4_000, 120_000]) {
    await until(() => time.waits().includes(wait));
    time.fire(wait);
  }
  t.deepEqual(await sent, { type: 'sent', rejected: 0 });
  t.is(collector.requests.length, 5);
});

test('a collector that cannot be reached is tried again', async (t) => {
  const { collector, exporter, time } = await open(t, () => ({}));
  await collector.close();
  const sent = exporter.send('{}');
  for (const wait of [1_000, 2_000, 4_000, 8_000]) {
    await until(() => time.waits().includes(wait));
    time.fire(wait);
  }
  t.like(await sent, { type: 'failed' });
});

test('a body that fails five times is given up', async (t) => {
  const { collector, exporter, time } = await open(t, () => ({ status: 503, pieces: ['secret words'] }));
  const sent = exporter.send('{}');
  for (const wait of [1_000, 2_000, 4_000, 8_000]) {
    await until(() => time.waits().includes(wait));
    time.fire(wait);
  }
  t.deepEqual(await sent, { type: 'failed', problem: 'the collector answers with status 503' });
  t.is(collector.requests.length, 5);
});

for (const status of [301, 400, 401, 404, 413, 500]) {
  test(`status ${status} isn't tried again`, async (t) => {
    const { collector, exporter } = await open(t, () => ({ status, headers: { location: 'http://127.0.0.1:9/' } }));
    t.deepEqual(await exporter.send('{}'), { type: 'failed', problem: `the collector answers with status ${status}` });
    t.is(collector.requests.length, 1);
  });
}

const endless = async function* () {
  for (;;) yield 'x'.repeat(16_384);
};

for (const [title, answer] of [
  ['nonsense', { pieces: ['<html>'] }],
  ['no body', {}],
  ['another shape', { pieces: ['{"partialSuccess":[{"rejectedSpans":{}}]}'] }],
  ['a number that is none', { pieces: ['{"partialSuccess":{"rejectedSpans":"-1e99"}}'] }],
  ['an endless body', { pieces: endless() }],
  ['a body that is cut', { headers: { 'content-length': '99' }, pieces: ['{'], finish: 'close' }],
] as const) {
  test(`a collector that takes it and answers with ${title}`, async (t) => {
    const { exporter } = await open(t, () => answer);
    t.deepEqual(await exporter.send('{}'), { type: 'sent', rejected: 0 });
  });
}

test('what the collector refuses of a body is counted', async (t) => {
  const { exporter } = await open(t, () => ({ pieces: ['{"partialSuccess":{"rejectedSpans":"3"}}'] }));
  t.deepEqual(await exporter.send('{}'), { type: 'sent', rejected: 3 });
});

test('a collector that never answers is given up at the deadline', async (t) => {
  const { collector, exporter, time } = await open(t, () => 'never');
  const sent = exporter.send('{}');
  await until(() => collector.requests.length === 1);
  time.fire(tryMs);
  await until(() => time.waits().includes(1_000));
  exporter.close();
  t.deepEqual(await sent, { type: 'failed', problem: 'the collector takes too long' });
  t.deepEqual(await exporter.send('{}'), { type: 'failed', problem: 'the service stops' });
});

const span: Span = {
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  parentId: undefined,
  state: undefined,
  name: 'POST /v1/messages',
  kind: 'server',
  startMs: 1,
  endMs: 2,
  attributes: {},
  events: [],
  isError: false,
};

test('batches are full or five seconds old; beyond the queue, spans are dropped', async (t) => {
  const time = manualClock();
  const batches: number[] = [];
  const counts = { dropped: 0, delivered: 0 };
  let release = (): void => undefined;
  const queue = new SpanQueue({
    clock: time.clock,
    send: (spans) => {
      batches.push(spans.length);
      return new Promise((resolve) => {
        release = () => resolve({ type: 'sent', rejected: 0 });
      });
    },
    onDelivered(_, spans) {
      counts.delivered += spans;
    },
    onDropped() {
      counts.dropped += 1;
    },
  });
  queue.add(span);
  queue.add(span);
  t.deepEqual(batches, []);
  time.fire(batchMs);
  t.deepEqual(batches, [2]);
  for (let n = 0; n < maxQueuedSpans + 10; n += 1) queue.add(span);
  t.is(counts.dropped, 10);
  for (let sent = 1; sent <= maxQueuedSpans / maxBatchSpans; sent += 1) {
    release();
    await until(() => batches.length === sent + 1);
    t.is(batches.at(-1), maxBatchSpans);
  }
  release();
  await until(() => counts.delivered === maxQueuedSpans + 2);
  queue.add(span);
  const ended = queue.end();
  t.is(batches.at(-1), 1);
  release();
  await ended;
  t.deepEqual(time.waits(), []);
});
