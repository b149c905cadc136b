import test from 'ava';
import { mergeMap } from 'rxjs';
import { Backpressure, FairReading } from '../../../engine/runtime/backpressure.ts';
import { until } from '../../support/until.ts';
import { startUpstream } from '../../support/upstreams/upstream.ts';
import { callOf, start, testUpstreams } from './harness.ts';

const piece = Buffer.alloc(65_536, 'x');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until a count stays the same over many looks, so that a process which gets no time for a while isn't taken for one that waits. */
const stands = async (count: () => number): Promise<void> => {
  let last = -1;
  let looks = 0;
  await until(() => {
    looks = count() === last ? looks + 1 : 0;
    last = count();
    return looks === 20;
  });
};

/** An endless body that counts what the sockets took. */
const endless = () => {
  const sent = { bytes: 0 };
  const pieces = (function* () {
    for (;;) {
      sent.bytes += piece.length;
      yield piece;
    }
  })();
  return { sent, pieces };
};

test('a paused flow stops the upstream, at most 256 KiB later', async (t) => {
  const { sent, pieces } = endless();
  const upstream = await startUpstream(() => ({ pieces }));
  t.teardown(() => upstream.close());
  const backpressure = new Backpressure();
  const { chunks, subscription } = start(testUpstreams(), callOf(upstream.url, { backpressure }));
  await until(() => chunks.length > 10);
  backpressure.pause();
  const atPause = bytesOf(chunks);
  // The upstream waits once the buffers of both sockets are full.
  await stands(() => sent.bytes);
  const later = bytesOf(chunks);
  t.true(later - atPause <= 262_144, `${later - atPause} bytes came after the pause`);
  backpressure.resume();
  await until(() => bytesOf(chunks) > later + 4 * piece.length);
  backpressure.pause();
  await stands(() => bytesOf(chunks));
  subscription.unsubscribe();
});

test('a flow that is paused from the start lets no chunk through', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 'b'] }));
  t.teardown(() => upstream.close());
  const backpressure = new Backpressure();
  backpressure.pause();
  const { chunks, outcome } = start(testUpstreams(), callOf(upstream.url, { backpressure }));
  await pause(150);
  t.is(chunks.length, 0);
  backpressure.resume();
  t.is((await outcome).bytes.toString(), 'ab');
});

test('pausing and resuming all the time loses nothing', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 400_000 }, (_, index) => index % 251));
  const pieces = Array.from({ length: 400 }, (_, index) => bytes.subarray(index * 1000, (index + 1) * 1000));
  const upstream = await startUpstream(() => ({ pieces }));
  t.teardown(() => upstream.close());
  const backpressure = new Backpressure();
  const { outcome } = start(testUpstreams(), callOf(upstream.url, { backpressure }));
  let done = false;
  const toggling = (async () => {
    while (!done) {
      backpressure.pause();
      backpressure.resume();
      backpressure.pause();
      await pause(1);
      backpressure.resume();
      await pause(0);
    }
  })();
  const result = await outcome;
  done = true;
  await toggling;
  t.is(result.error, undefined);
  t.true(result.bytes.equals(bytes));
});

test('a body that is held back doesn’t count as silent', async (t) => {
  const backpressure = new Backpressure();
  const pieces = async function* () {
    yield 'a';
    await until(() => backpressure.paused);
    yield 'b';
  };
  const upstream = await startUpstream(() => ({ pieces: pieces() }));
  t.teardown(() => upstream.close());
  // Held back by the chunk itself: between the two, the body could be silent for as long as the process stands still.
  const { outcome } = start(testUpstreams({ idleMs: 1000 }), callOf(upstream.url, { backpressure }), (count) => {
    if (count === 1) backpressure.pause();
  });
  await until(() => backpressure.paused);
  await pause(2500);
  backpressure.resume();
  const { error, bytes } = await outcome;
  t.is(error, undefined);
  t.is(bytes.toString(), 'ab');
});

for (const connection of ['keep-alive', 'close']) {
  for (const finish of ['reset', 'close'] as const) {
    test(`an upstream that goes away (${finish}) while held back is a cut (connection: ${connection})`, async (t) => {
      const upstream = await startUpstream(() => ({
        headers: { connection },
        pieces: [piece, piece, 100, 'z'],
        finish,
      }));
      t.teardown(() => upstream.close());
      const backpressure = new Backpressure();
      const { outcome, chunks } = start(testUpstreams(), callOf(upstream.url, { backpressure }));
      await until(() => chunks.length > 0);
      backpressure.pause();
      await pause(400);
      backpressure.resume();
      t.is((await outcome).fault?.kind, 'upstream-cut');
    });
  }
}

const head = 'HTTP/1.1 200 OK\r\n';
const whole = [
  ['as long as its connection', `${head}connection: close\r\n\r\nabc`],
  ['of a length, to be closed', `${head}connection: close\r\ncontent-length: 3\r\n\r\nabc`],
  ['of a length', `${head}content-length: 3\r\n\r\nabc`],
  ['in chunks, to be closed', `${head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
  ['in chunks', `${head}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
  ['empty', `${head}content-length: 0\r\n\r\n`],
  ['empty, as long as its connection', `${head}connection: close\r\n\r\n`],
] as const;

for (const [title, raw] of whole) {
  for (const moment of ['head', 'chunk'] as const) {
    test(`a body ${title} is complete, though its connection ends while it is held back after the ${moment}`, async (t) => {
      const upstream = await startUpstream(() => ({ raw }));
      t.teardown(() => upstream.close());
      const backpressure = new Backpressure();
      const received: Uint8Array[] = [];
      const ended = new Promise<void>((resolve, reject) => {
        testUpstreams()
          .call(callOf(upstream.url, { backpressure }))
          .pipe(
            mergeMap(({ body }) => {
              if (moment === 'head') backpressure.pause();
              return body;
            }),
          )
          .subscribe({
            next: (chunk) => {
              received.push(chunk);
              backpressure.pause();
            },
            error: reject,
            complete: resolve,
          });
      });
      await pause(150);
      // Again and again: on a busy machine the chunk comes after the first time.
      const resuming = setInterval(() => backpressure.resume(), 50);
      await ended.finally(() => clearInterval(resuming));
      t.is(Buffer.concat(received).toString(), raw.endsWith('\r\n\r\nabc') || raw.includes('\r\nabc\r\n') ? 'abc' : '');
      await until(() => upstream.openSockets === 0);
    });
  }
}

test('a paused flow does not touch the calls beside it', async (t) => {
  const { pieces } = endless();
  const upstream = await startUpstream((_request, count) => (count === 1 ? { pieces } : { pieces: ['a'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  const backpressure = new Backpressure();
  const held = start(upstreams, callOf(upstream.url, { backpressure }));
  await until(() => held.chunks.length > 0);
  backpressure.pause();
  const { bytes } = await start(upstreams, callOf(upstream.url)).outcome;
  t.is(bytes.toString(), 'a');
  held.subscription.unsubscribe();
});

test('an end that comes while the body is held back leaves a connection that can be closed', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 100] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  const backpressure = new Backpressure();
  const { chunks, outcome } = start(upstreams, callOf(upstream.url, { backpressure }));
  await until(() => chunks.length === 1);
  backpressure.pause();
  t.is((await outcome).error, undefined);
  t.is(upstream.openSockets, 1);
  upstream.closeIdle();
  await until(() => upstream.openSockets === 0);
  t.is((await start(upstreams, callOf(upstream.url)).outcome).error, undefined);
});

test('the source is detached at the end', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(() => upstream.close());
  const backpressure = new Backpressure();
  await start(testUpstreams(), callOf(upstream.url, { backpressure })).outcome;
  t.notThrows(() => {
    backpressure.pause();
    backpressure.resume();
  });
});

const bytesOf = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, chunk) => sum + chunk.length, 0);

test('sources that bring much in one turn of the event loop pause, and read on in turn', async (t) => {
  const turns = new FairReading();
  const calls: string[] = [];
  const sources = Array.from({ length: 6 }, (_, index) => ({
    pause: () => calls.push(`pause ${index}`),
    resume: () => calls.push(`resume ${index}`),
  }));
  const [first, second] = sources;
  if (!first || !second) throw new Error('no sources');
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const expect = (...expected: readonly string[]) => t.deepEqual(calls.splice(0), expected);

  for (let count = 0; count < 7; count += 1) turns.brought(first, piece.length);
  turns.brought(second, 1);
  expect();
  turns.brought(first, piece.length);
  turns.brought(second, 1);
  expect('pause 0', 'pause 1');
  await nextTurn();
  expect('resume 0', 'resume 1');
  turns.brought(second, piece.length);
  expect();

  turns.brought(first, 20 * piece.length);
  for (const source of sources) turns.brought(source, 1);
  calls.length = 0;
  await nextTurn();
  expect(...sources.slice(0, 4).map((_, index) => `resume ${index}`));
  await nextTurn();
  expect('resume 4', 'resume 5');
});
