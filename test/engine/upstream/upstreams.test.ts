import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { lastValueFrom, mergeMap, type Observable, timer, toArray } from 'rxjs';
import { ContinueFilter } from '../../../engine/upstream/connection.ts';
import { until } from '../../support/until.ts';
import { recordedAnswer, startUpstream } from '../../support/upstreams/upstream.ts';
import { callOf, read, start, testUpstreams } from './harness.ts';

test('a request arrives unchanged', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['ok'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  await read(upstreams, callOf(upstream.url, { body: '{"text":"grüße 👋"}' }));
  await read(upstreams, callOf(upstream.url, { body: new TextEncoder().encode('{"a":1}').subarray(0) }));
  const [text, bytes] = upstream.requests;
  t.is(text?.method, 'POST');
  t.is(text?.url, '/v1/messages?beta=true');
  t.deepEqual(text?.body, { text: 'grüße 👋' });
  t.is(text?.headers.host, `127.0.0.1:${upstream.port}`);
  t.is(text?.headers['x-api-key'], 'canary');
  t.is(text?.headers['content-length'], String(Buffer.byteLength('{"text":"grüße 👋"}')));
  t.deepEqual(Object.keys(text?.headers ?? {}).sort(), [
    'connection',
    'content-length',
    'content-type',
    'host',
    'x-api-key',
  ]);
  t.deepEqual(bytes?.body, { a: 1 });
});

const large = `{"text":"${'größer 👋 '.repeat(20_000)}"}`;

test('a large request arrives unchanged, also after a connection reset', async (t) => {
  let resets = false;
  const upstream = await startUpstream(() => {
    const reset = resets;
    resets = false;
    return reset ? 'reset' : { pieces: ['ok'] };
  });
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  // A reset that comes after a second is no longer taken for that of an idle connection: a busy machine may be so late.
  await until(async () => {
    await read(upstreams, callOf(upstream.url, { body: Buffer.from(large) }));
    resets = true;
    return (await read(upstreams, callOf(upstream.url, { body: large }))).error === undefined;
  });
  t.true(upstream.requests.length >= 3);
  for (const { text, headers } of upstream.requests) {
    t.is(text, large);
    t.is(headers['content-length'], String(Buffer.byteLength(large)));
    t.is(headers['transfer-encoding'], undefined);
  }
});

test('a large request is released while its response continues', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') return t.fail();
  const upstream = await startUpstream(() => ({ pieces: ['a'], finish: 'stall' }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  const collected: string[] = [];
  const begun: string[] = [];
  const registry = new FinalizationRegistry<string>((name) => collected.push(name));
  const call = (name: string): Observable<Uint8Array> => {
    const body = Buffer.from(large.padEnd(1 << 20));
    registry.register(body, name);
    return upstreams.call(callOf(upstream.url, { body })).pipe(mergeMap((head) => head.body));
  };
  for (const name of ['first', 'second']) {
    const subscription = call(name).subscribe(() => begun.push(name));
    t.teardown(() => subscription.unsubscribe());
  }
  await until(() => begun.length === 2);
  await until(() => {
    collect();
    return collected.length === 2;
  });
  t.pass();
});

test('the head: any status, names in lower case, several values joined', async (t) => {
  const upstream = await startUpstream(() => ({
    status: 529,
    headers: { 'Retry-After': '3', 'X-Two': ['a', 'b'] },
    pieces: ['{}'],
  }));
  t.teardown(() => upstream.close());
  const { answer, bytes, error } = await read(testUpstreams(), callOf(upstream.url));
  t.is(error, undefined);
  t.is(answer?.status, 529);
  t.is(answer?.headers['retry-after'], '3');
  t.is(answer?.headers['x-two'], 'a, b');
  t.is(bytes.toString(), '{}');
});

test('informational heads are passed over', async (t) => {
  const upstream = await startUpstream(() => ({
    raw: 'HTTP/1.1 103 Early Hints\r\nx: 1\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  }));
  t.teardown(() => upstream.close());
  const { answer, bytes } = await read(testUpstreams(), callOf(upstream.url));
  t.is(answer?.status, 200);
  t.is(bytes.toString(), 'ok');
});

test('unrequested 100 Continue responses are skipped, in any number and chunking', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100\r\nx: 1\r\n\r\n';
  const final = 'HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\nHTTP/1.1 100 O';
  let sockets = 0;
  const server = createServer((socket) => {
    sockets += 1;
    socket.on('error', () => {}).on('data', () => socket.write(interim + final));
  });
  const upstreams = testUpstreams();
  t.teardown(() => upstreams.close().then(() => server.close()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is always of this kind; `string` is for pipes.
  const { port } = server.address() as AddressInfo;
  for (let count = 0; count < 2; count += 1) {
    const { answer, bytes, error } = await read(upstreams, callOf(`http://127.0.0.1:${port}`));
    t.is(error, undefined);
    t.is(answer?.status, 200);
    t.is(bytes.toString(), 'HTTP/1.1 100 O', 'bodies stay as they are');
  }
  t.is(sockets, 1, 'the connection is used again');

  const whole = Buffer.from(interim + final);
  const expected = whole.toString().replaceAll('1.1 100\r', '1.1 103\r').replace('1.1 100 C', '1.1 103 C');
  for (let at = 0; at <= whole.length; at += 1) {
    const filter = new ContinueFilter();
    const pieces = [Buffer.from(whole.subarray(0, at)), Buffer.from(whole.subarray(at))];
    for (const piece of pieces) filter.pass(piece);
    t.is(Buffer.concat(pieces).toString(), expected, `cut at ${at}`);
  }
});

test('an empty body completes', async (t) => {
  const upstream = await startUpstream(() => ({ status: 204 }));
  t.teardown(() => upstream.close());
  const { answer, bytes, error } = await read(testUpstreams(), callOf(upstream.url));
  t.is(error, undefined);
  t.is(answer?.status, 204);
  t.is(bytes.length, 0);
});

test('a redirect is an answer like any other', async (t) => {
  const upstream = await startUpstream(() => ({ status: 307, headers: { location: '/elsewhere' } }));
  t.teardown(() => upstream.close());
  t.is((await read(testUpstreams(), callOf(upstream.url))).answer?.status, 307);
  t.is(upstream.requests.length, 1);
});

test('each chunk is emitted separately, as soon as it is sent', async (t) => {
  let arrived = 0;
  const pieces = async function* () {
    for (const [index, piece] of ['a', 'b', 'c'].entries()) {
      // Each is sent once the one before it has arrived.
      await until(() => arrived === index);
      yield piece;
    }
  };
  const upstream = await startUpstream(() => ({ pieces: pieces() }));
  t.teardown(() => upstream.close());
  const { chunks, outcome } = start(testUpstreams(), callOf(upstream.url));
  for (; arrived < 3; arrived += 1) await until(() => chunks.length > arrived);
  await outcome;
  t.deepEqual(
    chunks.map((chunk) => Buffer.from(chunk).toString()),
    ['a', 'b', 'c'],
  );
});

for (const file of [
  'anthropic/text-emoji.sse',
  'openai-chat/tools-parallel.sse',
  'anthropic/json-tools-parallel.json',
]) {
  for (const pieceBytes of [7, 1000, Number.POSITIVE_INFINITY]) {
    test(`${file} in pieces of ${pieceBytes} bytes comes through unchanged`, async (t) => {
      const whole = await recordedAnswer(file);
      const upstream = await startUpstream(() => recordedAnswer(file, pieceBytes));
      t.teardown(() => upstream.close());
      const { bytes, answer } = await read(testUpstreams(), callOf(upstream.url));
      const expected: Uint8Array[] = [];
      for await (const piece of whole.pieces ?? []) if (typeof piece === 'object') expected.push(piece);
      t.is(sha256(bytes), sha256(Buffer.concat(expected)));
      t.is(answer?.headers['content-type'], `${whole.headers?.['content-type']}`);
    });
  }
}

test('random bytes of 32 MiB come through unchanged', async (t) => {
  const pieces = Array.from({ length: 32 }, (_, index) => Buffer.alloc(1 << 20, `${index} chunk`));
  const upstream = await startUpstream(() => ({ pieces }));
  t.teardown(() => upstream.close());
  const { bytes, error } = await read(testUpstreams(), callOf(upstream.url));
  t.is(error, undefined);
  t.is(sha256(bytes), sha256(Buffer.concat(pieces)));
});

test('a body that is subscribed late is complete', async (t) => {
  const pieces = Array.from({ length: 20 }, () => Buffer.alloc(65_536, 'x'));
  for (const connection of ['keep-alive', 'close']) {
    const upstream = await startUpstream(() => ({ headers: { connection }, pieces }));
    const late = testUpstreams()
      .call(callOf(upstream.url))
      .pipe(
        mergeMap(({ body }) => timer(100).pipe(mergeMap(() => body))),
        toArray(),
      );
    t.is(Buffer.concat(await lastValueFrom(late)).length, 20 * 65_536);
    await upstream.close();
  }
});

test('a body may be subscribed once, and only while its call is', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  const twice = upstreams.call(callOf(upstream.url)).pipe(
    mergeMap(({ body }) => {
      body.subscribe({ error: () => {} });
      return body;
    }),
  );
  await t.throwsAsync(lastValueFrom(twice), { message: /twice/ });
  const afterwards = new Promise((_resolve, reject) => {
    const outer = upstreams.call(callOf(upstream.url)).subscribe(({ body }) => {
      setImmediate(() => {
        outer.unsubscribe();
        body.subscribe({ error: reject });
      });
    });
  });
  await t.throwsAsync(afterwards, { message: /given up/ });
});

test('a failure before the body is subscribed is reported on subscription', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'], finish: 'reset' }));
  t.teardown(() => upstream.close());
  const late = testUpstreams()
    .call(callOf(upstream.url))
    .pipe(mergeMap(({ body }) => timer(200).pipe(mergeMap(() => body))));
  await t.throwsAsync(lastValueFrom(late), { name: 'FaultError', message: /before its answer was complete/ });
});

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
