import { connect } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { Subject } from 'rxjs';
import { Client } from 'undici';
import { defaultSettings } from '../../../engine/config/sections/service-settings.ts';
import { decompressBody, readCodings } from '../../../engine/http/decompress-body.ts';
import type { HeaderList, HttpRequest, Rejection, ReplyPart } from '../../../engine/http/endpoint.ts';
import { BodyReservation, readBody } from '../../../engine/http/read-body.ts';
import { ownLimits } from '../../../engine/http/settings.ts';
import { Ticker } from '../../../engine/http/ticker.ts';
import { MemoryBudget } from '../../../engine/runtime/memory-budget.ts';
import { until } from '../../support/until.ts';
import { echo, endpoint, fakeStream, raw, serve, statusesOf, text } from './rig.ts';

const rows = [{ method: 'POST', path: '/', endpoint: echo }];
const words = Buffer.from(JSON.stringify({ messages: Array.from({ length: 2000 }, (_, index) => `número ${index}`) }));

const post = async (port: number, body: Uint8Array, headers: Record<string, string> = {}) => {
  const client = new Client(`http://127.0.0.1:${port}`);
  const answer = await client.request({ method: 'POST', path: '/', headers, body });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  await client.close();
  return { status: answer.statusCode, bytes };
};

const codings: readonly (readonly [string, (data: Uint8Array) => Uint8Array])[] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['identity', (data) => data],
  ['', (data) => data],
  ['gzip, br', (data) => brotliCompressSync(gzipSync(data))],
  ['deflate, identity, gzip', (data) => gzipSync(deflateSync(data))],
];

for (const [index, [coding, compress]] of codings.entries()) {
  test(`a body in "${coding}" (${index}) arrives decompressed`, async (t) => {
    const { port } = await serve(t, rows);
    const { status, bytes } = await post(port, compress(words), { 'content-encoding': coding });
    t.is(status, 200);
    t.true(bytes.equals(words));
  });
}

/** Endpoints that hold their requests until the test lets them go. */
const holding = () => {
  const held = new Subject<ReplyPart>();
  return { held, rows: [...rows, { method: 'POST', path: '/hold', endpoint: endpoint(() => held) }] };
};

const postAt = async (port: number, path: string, body: Uint8Array, headers: Record<string, string> = {}) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body, headers });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() };
};

for (const coding of ['identity', 'gzip', 'deflate', 'br']) {
  test(`bodies in ${coding} beyond the memory for all get 503, smaller ones and later ones are served`, async (t) => {
    const { held, rows: some } = holding();
    const bodiesBytes = 1024 * 1024;
    const { port } = await serve(t, some, { limits: { bodiesBytes } });
    const compress = new Map(codings).get(coding) ?? ((data) => data);
    const body = compress(Buffer.alloc(200_000, 'x'));
    const headers = { 'content-encoding': coding };
    const first = postAt(port, '/hold', body, headers);
    await until(() => held.observed);
    const second = await postAt(port, '/', body, headers);
    t.like(second, { status: 503, retryAfter: '1' });
    t.regex(second.text, /LIMITS\.bodiesBytes/);
    t.is((await postAt(port, '/', Buffer.from('small'))).status, 200);
    held.next(text('done'));
    held.complete();
    t.is((await first).status, 200);
    t.is((await postAt(port, '/', body, headers)).status, 200, 'there is room again');
  });
}

test('a body uses little budget while its response is pending, and none once it has started', async (t) => {
  const { held, rows: some } = holding();
  const incoming: HttpRequest[] = [];
  const kept = endpoint((request) => {
    incoming.push(request);
    return held;
  });
  const { port } = await serve(t, [...some, { method: 'POST', path: '/keep', endpoint: kept }], {
    limits: { bodiesBytes: 1024 * 1024 },
  });
  const body = Buffer.alloc(200_000, 'x');
  const posts = [postAt(port, '/keep', body)];
  await until(() => incoming.length === 1);
  t.is((await postAt(port, '/', body)).status, 503);
  incoming[0]?.retainBody('values');
  t.is(incoming[0]?.body.length, 0);
  t.is((await postAt(port, '/', body)).status, 200);
  posts.push(postAt(port, '/keep', body));
  await until(() => incoming.length === 2);
  incoming[1]?.retainBody('values');
  t.is((await postAt(port, '/', body)).status, 503, 'the two take 400,000 bytes');
  incoming[0]?.retainBody('none');
  t.is(incoming[0]?.body.length, 0);
  t.is((await postAt(port, '/', body)).status, 200);
  incoming[1]?.retainBody('conversion');
  t.is((await postAt(port, '/', body)).status, 503, 'it is converted again');
  held.next(text('done'));
  held.complete();
  for (const { status } of await Promise.all(posts)) t.is(status, 200);
  incoming[1]?.retainBody('conversion');
  t.is((await postAt(port, '/', body)).status, 200, 'what is over takes none');
});

test('64 streams with bodies of 1 MiB leave the default budget to others', (t) => {
  const budget = new MemoryBudget();
  const body = Buffer.alloc(1024 * 1024, 'x');
  for (let index = 0; index < 64; index += 1) {
    const reservation = new BodyReservation(budget.reserve(defaultSettings().limits.bodiesBytes));
    t.is(reservation.complete(body), undefined);
    reservation.countAs('values');
    if (index % 2 === 0) reservation.countAs('none');
  }
  t.is(budget.usedBytes, 32 * body.length);
});

test('each array and object of a body uses budget, before it is parsed', async (t) => {
  const { held, rows: some } = holding();
  const { port } = await serve(t, some, { limits: { bodiesBytes: 1024 * 1024 } });
  const text = (content: string): Buffer => Buffer.from(`["${content}",[]]`);
  const nodes = Buffer.from(`[${'[],'.repeat(10_000)}[]]`);
  const first = postAt(port, '/hold', nodes);
  await until(() => held.observed);
  t.is((await postAt(port, '/', nodes)).status, 503);
  t.is((await postAt(port, '/', text('[],'.repeat(10_000)))).status, 200, 'brackets in a string take none');
  t.is((await postAt(port, '/', Buffer.from(`[${'{},'.repeat(20_000)}1]`))).status, 413, 'it alone is too large');
  held.complete();
  await first;
});

for (const [what, mostBytes] of [
  ['says how large it becomes', 0],
  ['says nothing of its size', 262_144],
] as const) {
  test(`a compressed body that ${what} is rejected as soon as it exceeds the budget`, async (t) => {
    const data = Buffer.alloc(10_000_000, 'x');
    const body = mostBytes === 0 ? gzipSync(data) : brotliCompressSync(data);
    const asked: number[] = [];
    const reservation = new BodyReservation(new MemoryBudget().reserve(1024 * 1024));
    const codings = readCodings(mostBytes === 0 ? 'gzip' : 'br');
    if ('kind' in codings) return t.fail();
    const limits = { decompressedBytes: 64 * 1024 * 1024, ratio: 1_000_000 };
    const expect = (bytes: number) => {
      asked.push(bytes);
      return reservation.expect(bytes);
    };
    const result = await decompressBody(body, codings, limits, { expect });
    t.like(result, { fault: { kind: 'too-large' } });
    t.is(asked.filter((bytes) => bytes > body.length && bytes <= mostBytes).length > 0, mostBytes > 0);
    t.true((asked.at(-2) ?? 0) <= mostBytes, `${asked}`);
  });
}

test('a client that disconnects releases its budget', async (t) => {
  const { held, rows: some } = holding();
  const { port } = await serve(t, some, { limits: { bodiesBytes: 1024 * 1024 } });
  const body = Buffer.alloc(200_000, 'x');
  const leaving = new AbortController();
  const first = fetch(`http://127.0.0.1:${port}/hold`, { method: 'POST', body, signal: leaving.signal });
  await until(() => held.observed);
  leaving.abort();
  await t.throwsAsync(first, { any: true });
  await until(() => !held.observed);
  t.is((await postAt(port, '/', body)).status, 200);
});

test('a body that exceeds the whole budget gets 413', async (t) => {
  const { port } = await serve(t, rows, { limits: { bodiesBytes: 100_000 } });
  for (const [body, coding] of [
    [Buffer.alloc(30_000, 'x'), 'identity'],
    [gzipSync(Buffer.alloc(900_000, 'x')), 'gzip'],
  ] as const) {
    const { status, text: words } = await postAt(port, '/', body, { 'content-encoding': coding });
    t.is(status, 413);
    t.regex(words, /LIMITS\.bodiesBytes/);
  }
});

const zeros = Buffer.alloc(8 * 1024 * 1024);
const faults = [
  ['an unknown coding', Buffer.from('x'), 'compress', 415],
  ['an unknown coding among known ones', gzipSync('x'), 'gzip, compress', 415],
  ['too many codings', gzipSync('x'), 'gzip, gzip, gzip, gzip, gzip', 415],
  ['broken gzip', Buffer.from('no gzip'), 'gzip', 400],
  ['cut gzip', gzipSync(words).subarray(0, 100), 'gzip', 400],
  ['broken br', Buffer.from('no brotli'), 'br', 400],
  ['broken deflate', Buffer.from('no deflate'), 'deflate', 400],
  ['broken zstd', Buffer.from('no zstd'), 'zstd', 400],
  ['a gzip bomb', gzipSync(zeros), 'gzip', 413],
  ['a br bomb', brotliCompressSync(zeros), 'br', 413],
  ['a bomb in a bomb', gzipSync(gzipSync(zeros)), 'gzip, gzip', 413],
] as const;

for (const [title, body, coding, expected] of faults) {
  test(`S11 ${title} gets ${expected}`, async (t) => {
    const { port } = await serve(t, rows);
    t.is((await post(port, body, { 'content-encoding': coding })).status, expected);
  });
}

test('a small body with a high ratio is accepted', async (t) => {
  const { port } = await serve(t, rows);
  const body = Buffer.alloc(1024 * 1024);
  t.true(gzipSync(body).length * 200 < body.length);
  t.is((await post(port, gzipSync(body), { 'content-encoding': 'gzip' })).status, 200);
});

test('S11 the limit on decompressed bytes holds below the ratio', async (t) => {
  const { port } = await serve(t, rows, { limits: { decompressedBytes: words.length - 1 } });
  t.is((await post(port, gzipSync(words), { 'content-encoding': 'gzip' })).status, 413);
});

test('a body of exactly the limit passes, in any number of packets', async (t) => {
  const { port } = await serve(t, rows, { limits: { bodyBytes: 5_000_000 } });
  const body = Buffer.alloc(5_000_000, 'abcdefg');
  const { status, bytes } = await post(port, body);
  t.is(status, 200);
  t.true(bytes.equals(body));
});

test('S11 a declared length over the limit gets 413, and the connection survives if the rest is small', async (t) => {
  const { port } = await serve(t, rows, { limits: { bodyBytes: 1000 } });
  const request = (length: number, body: string) =>
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${body}`;
  const early = await raw(port, request(8000, 'only the beginning'));
  t.deepEqual(statusesOf(early.text), [413]);
  t.false(early.closed);
  const whole = await raw(port, request(8000, 'x'.repeat(8000)) + request(2, 'ok'));
  t.deepEqual(statusesOf(whole.text), [413, 200]);
  const far = await raw(port, request(8001, 'only the beginning'), 400);
  t.deepEqual(statusesOf(far.text), [413]);
  t.true(far.closed);
});

test('S11 a chunked body gets 413 as soon as it exceeds the limit, and the connection closes', async (t) => {
  const { port } = await serve(t, rows, { limits: { bodyBytes: 1000 } });
  const chunk = `3e8\r\n${'x'.repeat(1000)}\r\n`;
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  t.deepEqual(statusesOf((await raw(port, `${head}${chunk}0\r\n\r\n`)).text), [200]);
  const { text, closed } = await raw(port, `${head}${chunk}1\r\nx\r\n`, 400);
  t.deepEqual(statusesOf(text), [413]);
  t.true(closed);
});

test('a refused request leaves its unread body behind', async (t) => {
  const { port } = await serve(t, rows, { apiKey: 'k' });
  const refused = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
  const { text } = await raw(port, refused + refused);
  t.deepEqual(statusesOf(text), [401, 401]);
});

test('a client that waits for 100 Continue gets it', async (t) => {
  const { port } = await serve(t, rows);
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let received = '';
  socket.on('data', (data) => {
    received += data;
  });
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n');
  await until(() => received.includes('100 Continue\r\n\r\n'));
  socket.write('abc');
  await until(() => received.endsWith('abc'));
  t.deepEqual(statusesOf(received), [100, 200]);
});

test.serial('S12 a body that arrives too slowly gets 408, a steady one is awaited', async (t) => {
  const { port } = await serve(t, rows, { limits: { bodyWindowMs: 2_000, bodyBytesPerSecond: 100 } });
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n';
  const send = (bytesEach: number): Promise<string> =>
    new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let left = 1000;
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(head);
        // No more than the head says: that would be a request of its own.
        timer = setInterval(() => {
          const bytes = Math.min(bytesEach, left);
          left -= bytes;
          socket.write('x'.repeat(bytes));
        }, 20);
      });
      let received = '';
      socket.on('data', (data) => {
        received += data;
        if (received.includes('200 OK')) socket.end();
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(timer);
        resolve(received);
      });
    });
  const [slow, stopped, steady] = await Promise.all([send(1), send(0), send(50)]);
  t.deepEqual(statusesOf(slow), [408]);
  t.deepEqual(statusesOf(stopped), [408]);
  t.deepEqual(statusesOf(steady), [200]);
});

test('a client that disconnects while its body is read is released', async (t) => {
  const listener = await serve(t, rows);
  await raw(listener.port, 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc', 50);
  await until(() => listener.activeRequests === 0);
  t.pass();
});

/** The reader of a body from a stream without a connection, begun at 0 ms. */
const reading = (headers: HeaderList, maxBytes = 1_000_000) => {
  const fake = fakeStream(headers);
  const results: (Uint8Array | Rejection)[] = [];
  const reader = readBody({
    stream: fake.stream,
    limits: {
      ...defaultSettings().limits,
      ...ownLimits,
      bodyBytes: 1_000,
      bodyWindowMs: 1_000,
      bodyBytesPerSecond: 100,
    },
    ticker: new Ticker(1_000_000, () => 0),
    reservation: new BodyReservation(new MemoryBudget().reserve(maxBytes)),
    reservesValues: false,
    received: (result) => results.push(result),
  });
  /** `kind` and `close` of a rejection; the length of a body. */
  const outcomes = () =>
    results.map((result) => ('fault' in result ? [result.fault.kind, result.close] : result.length));
  const give = (bytes: number, isLast = false) => fake.consumer?.take(new Uint8Array(bytes), isLast);
  return { fake, reader, outcomes, give };
};
const chunked: HeaderList = ['transfer-encoding', 'chunked'];

test('the rate of a body counts anew in each window', (t) => {
  const { fake, reader, outcomes, give } = reading(chunked);
  give(100);
  reader?.tick(999);
  reader?.tick(1_000);
  give(100);
  reader?.tick(1_999);
  reader?.tick(2_000);
  t.deepEqual([outcomes(), fake.done], [[], ['keepOpen', 'keepOpen', 'keepOpen', 'keepOpen']]);
  give(99);
  reader?.tick(3_000);
  t.deepEqual(outcomes(), [['request-timeout', true]]);
  give(1, true);
  t.is(outcomes().length, 1, 'it is read no further');
});

const bodies: readonly (readonly [
  headers: HeaderList,
  chunks: readonly number[],
  outcome: unknown,
  maxBytes?: number,
])[] = [
  [[], [], 0],
  [['content-length', '0'], [], 0],
  [['content-length', '3'], [3], 3],
  [['content-length', '1000'], [999, 1], 1_000],
  [['content-length', '1001'], [], ['too-large', false]],
  [['content-length', '8000'], [], ['too-large', false]],
  [['content-length', '8001'], [], ['too-large', true]],
  [['content-length', '8000', 'content-encoding', 'odd'], [], ['unsupported-encoding', false]],
  [['content-length', '8001', 'content-encoding', 'odd'], [], ['unsupported-encoding', true]],
  [chunked, [0], 0],
  [[...chunked, 'content-encoding', 'gzip'], [0], 0],
  [chunked, [500, 0, 500], 1_000],
  [chunked, [500, 501], ['too-large', true]],
  [chunked, [100], 100, 400],
  [chunked, [100], ['too-large', true], 399],
  [chunked, [100, 100], ['too-large', true], 150],
];

test('bodies up to the limits are received, once', (t) => {
  for (const [headers, chunks, outcome, maxBytes] of bodies) {
    const { outcomes, give } = reading(headers, maxBytes);
    for (const [index, bytes] of chunks.entries()) give(bytes, index === chunks.length - 1);
    t.deepEqual(outcomes(), [outcome], JSON.stringify([headers, chunks]));
  }
});
