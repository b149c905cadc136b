import { connect, type Socket } from 'node:net';
import test from 'ava';
import { concat, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import type { ReplyPart } from '../../../engine/http/endpoint.ts';
import { ReplyWriter } from '../../../engine/http/reply-writer.ts';
import type { RequestOutcome } from '../../../engine/http/settings.ts';
import { Ticker } from '../../../engine/http/ticker.ts';
import { Backpressure } from '../../../engine/runtime/backpressure.ts';
import { until } from '../../support/until.ts';
import { endpoint, fakeStream, headerOf, raw, serve, statusesOf } from './rig.ts';

const asked = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const head: ReplyPart = { type: 'head', status: 201, headers: { 'x-a': 'b', 'x-request-id': 'theirs' } };
const data = (text: string | Uint8Array): ReplyPart => ({ type: 'data', data: text });

const answered = (parts: Observable<ReplyPart>) => [{ method: 'GET', path: '/', endpoint: endpoint(() => parts) }];

test('a stream is sent in chunks, its head with the first data', async (t) => {
  const parts = new Subject<ReplyPart>();
  const listener = await serve(t, answered(parts));
  const socket = connect(listener.port, '127.0.0.1', () => socket.write(asked));
  t.teardown(() => socket.destroy());
  const received: string[] = [];
  socket.on('data', (bytes) => received.push(bytes.toString()));
  await until(() => parts.observed);
  parts.next(head);
  parts.next(data(''));
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.deepEqual(received, []);
  parts.next(data('one'));
  await until(() => received.length > 0);
  t.regex(received.join(''), /^HTTP\/1\.1 201 Created\r\n(?:[\w-]+: .*\r\n)+\r\n3\r\none(?:\r\n)?$/);
  t.is(headerOf(received.join(''), 'x-a'), 'b');
  t.regex(headerOf(received.join(''), 'x-request-id') ?? '', /^req_/);
  parts.next(data(Buffer.from('zwö')));
  parts.next({ type: 'data', records: [{ event: '', data: '{}' }] });
  parts.next({ type: 'data', records: [{ event: 'e', data: '[]' }], afterPart: true });
  parts.complete();
  await until(() => received.join('').endsWith('0\r\n\r\n'));
  t.true(received.join('').includes('zwödata: {}\n\n\n\nevent: e\ndata: []\n\n'));
  t.is(listener.activeRequests, 0);
});

const oneAnswer: readonly (readonly [string, Observable<ReplyPart>, number, string])[] = [
  ['a head alone', of(head), 201, ''],
  ['an error before the head', throwError(() => new Error('x')), 500, 'internal'],
  [
    'an error after the head, before data',
    new Observable((to) => {
      to.next(head);
      to.error(new Error('x'));
    }),
    500,
    'internal',
  ],
  ['nothing at all', of(), 500, 'internal'],
  ['data without a head', concat(of(data('x')), NEVER), 500, 'internal'],
  [
    'a whole answer in place of a head that has not gone out',
    of<ReplyPart[]>(head, { type: 'whole', status: 200, headers: {}, body: 'x' }),
    200,
    '',
  ],
  ['no content', of({ type: 'whole', status: 204, headers: {}, body: '' }), 204, ''],
];
for (const [title, parts, status, kind] of oneAnswer) {
  test(`${title}: one answer, ${status}, and the connection stays open`, async (t) => {
    const { port } = await serve(t, answered(parts));
    const { text, closed } = await raw(port, asked + asked);
    t.deepEqual(statusesOf(text), [status, status]);
    t.is(text.includes('"kind":"internal"'), kind === 'internal');
    t.false(closed);
  });
}

test('an error after the first data closes the connection without an end', async (t) => {
  const bugs: unknown[] = [];
  const error = new Error('late');
  const parts = new Observable<ReplyPart>((to) => {
    to.next(head);
    to.next(data('one'));
    setTimeout(() => to.error(error), 20);
  });
  const { port } = await serve(t, answered(parts), { hooks: { failed: (bug) => bugs.push(bug) } });
  const { text, closed } = await raw(port, asked, 500);
  t.true(closed);
  t.true(text.includes('one'));
  t.false(text.includes('0\r\n\r\n'));
  t.deepEqual(bugs, [error]);
});

test('a client that disconnects mid-stream is unsubscribed, though nothing more is sent', async (t) => {
  const records: RequestOutcome[] = [];
  let gone = false;
  const parts = new Observable<ReplyPart>((to) => {
    to.next(head);
    to.next(data('one'));
    return () => {
      gone = true;
    };
  });
  const listener = await serve(t, answered(parts), { hooks: { finished: (_, outcome) => records.push(outcome) } });
  const socket = connect(listener.port, '127.0.0.1', () => socket.write(asked));
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  await until(() => gone);
  t.is(listener.activeRequests, 0);
  t.deepEqual(
    records.map(({ status, aborted }) => [status, aborted]),
    [[499, true]],
  );
});

const piece = Buffer.alloc(64 * 1024, 'x');

/** A source that yields without end, as fast as it is let. */
const endless = (backpressure: Backpressure, count: { bytes: number; pauses: number }): Observable<ReplyPart> =>
  new Observable((to) => {
    let timer: NodeJS.Immediate | undefined;
    const pump = () => {
      if (backpressure.paused) return;
      count.bytes += piece.length;
      to.next(data(piece));
      timer = setImmediate(pump);
    };
    const valve = {
      pause() {
        count.pauses += 1;
        clearImmediate(timer);
      },
      resume: pump,
    };
    backpressure.attach(valve);
    to.next(head);
    pump();
    return () => {
      clearImmediate(timer);
      backpressure.detach(valve);
    };
  });

test('a client that stops reading pauses the flow, reading resumes it', async (t) => {
  const count = { bytes: 0, pauses: 0 };
  const rows = [{ method: 'GET', path: '/', endpoint: endpoint(({ backpressure }) => endless(backpressure, count)) }];
  const { port } = await serve(t, rows);
  const socket = connect(port, '127.0.0.1', () => socket.write(asked));
  t.teardown(() => socket.destroy());
  socket.pause();
  await until(() => count.pauses > 0);
  const stoppedAt = count.bytes;
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.is(count.bytes, stoppedAt, 'nothing comes while paused');
  let read = 0;
  socket.on('data', (bytes) => {
    read += bytes.length;
  });
  socket.resume();
  await until(() => read > stoppedAt + 1_000_000);
  t.pass();
});

test('a batch larger than the socket buffer is sent completely without further data', async (t) => {
  const batch = Buffer.alloc(12_000_000, 'x');
  const { port } = await serve(t, answered(concat(of(head, data(batch)), NEVER)));
  const socket = connect(port, '127.0.0.1', () => socket.write(asked));
  t.teardown(() => socket.destroy());
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 200));
  let read = 0;
  socket.on('data', (bytes) => {
    read += bytes.length;
  });
  socket.resume();
  await until(() => read > batch.length);
  t.pass();
});

test.serial('a hundred clients that do not read cost little memory', async (t) => {
  const counts: { bytes: number; pauses: number }[] = [];
  const rows = [
    {
      method: 'GET',
      path: '/',
      endpoint: endpoint(({ backpressure }) => {
        const count = { bytes: 0, pauses: 0 };
        counts.push(count);
        return endless(backpressure, count);
      }),
    },
  ];
  const { port } = await serve(t, rows);
  const before = process.memoryUsage.rss();
  const sockets: Socket[] = Array.from({ length: 100 }, () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(asked));
    return socket.pause();
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await until(() => counts.length === 100 && counts.every(({ pauses }) => pauses > 0));
  const perStream = (process.memoryUsage.rss() - before) / 100;
  t.true(perStream < 256 * 1024, `${Math.round(perStream / 1024)} KiB per stream`);
});

test('a large whole answer reaches a slow client whole', async (t) => {
  const body = Buffer.alloc(12_000_000, 'abcdefghijk');
  const { port } = await serve(t, answered(of({ type: 'whole', status: 200, headers: {}, body })));
  const socket = connect(port, '127.0.0.1', () => socket.write(asked));
  t.teardown(() => socket.destroy());
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 200));
  const chunks: Buffer[] = [];
  socket.on('data', (bytes) => chunks.push(bytes));
  socket.resume();
  await until(() => chunks.reduce((sum, { length }) => sum + length, 0) > body.length + 100);
  const received = Buffer.concat(chunks);
  t.is(headerOf(received.subarray(0, 1000).toString(), 'content-length'), '12000000');
  const from = received.indexOf('\r\n\r\n') + 4;
  t.true(received.subarray(from).equals(body));
  const { text } = await raw(port, asked.replace('GET', 'HEAD'));
  t.is(headerOf(text, 'content-length'), '12000000');
});

test('a client that leaves its response unread for too long is disconnected', async (t) => {
  const count = { bytes: 0, pauses: 0 };
  const rows = [{ method: 'GET', path: '/', endpoint: endpoint(({ backpressure }) => endless(backpressure, count)) }];
  const listener = await serve(t, rows, { limits: { stallMs: 200, bodyWindowMs: 100 } });
  const socket = connect(listener.port, '127.0.0.1', () => socket.write(asked));
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  socket.pause();
  await until(() => count.pauses > 0);
  await until(() => listener.activeRequests === 0);
  t.pass();
});

const stallMs = 1_000;

/** A writer to a stream without a connection. `clock.ms` is the time. */
const writing = (method = 'GET', isLast = false) => {
  const clock = { ms: 0 };
  const fake = fakeStream();
  const backpressure = new Backpressure();
  const parts = new Subject<ReplyPart>();
  const statuses: number[] = [];
  const failures: unknown[] = [];
  const writer = new ReplyWriter({
    stream: fake.stream,
    id: 'r',
    method,
    backpressure,
    ticker: new Ticker(1_000_000, () => clock.ms),
    limits: { stallMs },
    isLast,
    formatError: (error) => ({ type: 'whole', status: 500, headers: {}, body: String(error) }),
    finished: (status) => statuses.push(status),
    failed: (error) => failures.push(error),
  });
  writer.run(parts);
  /** What was done to the stream since the last call, once this turn's data is written. */
  const done = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return fake.done.splice(0);
  };
  return { fake, done, backpressure, parts, statuses, failures, writer, clock };
};
const ids = 'x-request-id r request-id r';
const plainHead: ReplyPart = { type: 'head', status: 201, headers: {} };
const whole = (body: string | Uint8Array, status = 200): ReplyPart => ({ type: 'whole', status, headers: {}, body });
const large = Buffer.alloc(65_536);

test('data of one turn is written at once, as text if all of it is', async (t) => {
  const { parts, done, statuses } = writing();
  parts.next(plainHead);
  t.deepEqual(await done(), []);
  for (const text of ['a', 'b']) parts.next(data(text));
  t.deepEqual(await done(), [`head 201 ${ids}`, 'string ab']);
  for (const text of ['a', Buffer.from('ö'), 'c']) parts.next(data(text));
  t.deepEqual(await done(), ['object aöc']);
  parts.next(data('d'));
  parts.complete();
  t.deepEqual(await done(), ['string d', 'end']);
  t.deepEqual(statuses, [201]);
});

test('a full socket pauses the source; the end waits until there is room again', async (t) => {
  const { fake, parts, done, backpressure, statuses, writer } = writing();
  parts.next(plainHead);
  fake.hasRoom = false;
  parts.next(data('a'));
  await done();
  t.true(backpressure.paused);
  writer.writable(false);
  t.false(backpressure.paused);
  parts.next(data('b'));
  await done();
  t.true(backpressure.paused);
  parts.complete();
  t.deepEqual(await done(), []);
  writer.next(data('c'));
  t.deepEqual(statuses, []);
  writer.writable(false);
  t.deepEqual(await done(), ['end']);
  writer.writable(false);
  writer.complete();
  writer.abort();
  t.deepEqual([await done(), statuses], [[], [201]]);
});

test('a client that leaves its answer unread is disconnected after a while', async (t) => {
  const { fake, parts, done, writer } = writing();
  parts.next(plainHead);
  fake.hasRoom = false;
  parts.next(data('a'));
  await done();
  writer.tick(stallMs);
  t.deepEqual(await done(), ['keepOpen']);
  writer.tick(stallMs + 1);
  t.deepEqual(await done(), ['close']);
  writer.writable(false);
  writer.tick(stallMs + 1);
  t.deepEqual(await done(), ['keepOpen']);
});

test('a large whole answer is sent as the client reads it', async (t) => {
  for (const hasRoom of [true, false]) {
    const { fake, parts, done, backpressure, statuses, writer, clock } = writing();
    fake.hasRoom = hasRoom;
    parts.next(whole(large));
    t.is(backpressure.paused, !hasRoom);
    t.deepEqual(statuses, hasRoom ? [200] : []);
    parts.next(data('a'));
    parts.complete();
    writer.error(new Error('late'));
    if (!hasRoom) {
      writer.tick(stallMs);
      clock.ms = 1;
      // Part of it has been sent since, so the wait starts anew.
      writer.writable(false);
      writer.tick(stallMs + 1);
      writer.writable(true);
    }
    t.deepEqual(await done(), [
      `head 200 ${ids}`,
      `send ${large.length}`,
      ...(hasRoom ? [] : ['keepOpen', 'keepOpen']),
    ]);
    t.deepEqual(statuses, [200]);
  }
});

const answers: readonly (readonly [ReplyPart, done: readonly string[], method?: string, isLast?: boolean])[] = [
  [whole('a'), [`head 200 ${ids}`, 'endWith a']],
  [whole('a'), [`head 200 ${ids}`, 'endWith a close'], 'GET', true],
  [whole('ö'), [`head 200 ${ids} content-length 2`, 'endWithoutBody'], 'HEAD'],
  [whole('a'), [`head 200 ${ids} connection close content-length 1`, 'endWithoutBody'], 'HEAD', true],
  [whole('', 204), [`head 204 ${ids}`, 'endWithoutBody']],
  [whole('', 304), [`head 304 ${ids}`, 'endWithoutBody']],
  [whole('a', 426), [`head 426 upgrade HTTP/1.1 connection upgrade ${ids}`, 'endWith a']],
  [whole(large), [`head 200 ${ids} connection close`, `send ${large.length}`], 'GET', true],
  [whole(large.toString()), [`head 200 ${ids}`, `send ${large.length}`]],
  [whole(large.subarray(1)), [`head 200 ${ids}`, `endWith ${large.length - 1}`]],
  [plainHead, [`head 201 ${ids}`, 'endWithoutBody'], 'HEAD'],
  [plainHead, [`head 201 ${ids} connection close`, 'endWithoutBody'], 'HEAD', true],
];

test('the head and body of whole answers', async (t) => {
  for (const [part, expected, method, isLast] of answers) {
    const { parts, done, statuses } = writing(method, isLast);
    parts.next(part);
    t.deepEqual(await done(), [...expected]);
    t.is(statuses.length, 1);
    t.false(parts.observed);
  }
});

test('a fault after data closes the connection; one before it is answered', async (t) => {
  const { parts, done, statuses, failures, writer } = writing();
  parts.next(plainHead);
  parts.next(data('a'));
  await done();
  const error = new Error('late');
  parts.next(data('b'));
  writer.error(error);
  t.deepEqual(await done(), ['string b', 'close']);
  t.deepEqual([failures, statuses], [[error], []]);
  writer.abort();
  t.deepEqual([statuses, parts.observed], [[499], false]);

  const late = writing();
  late.parts.next(plainHead);
  late.parts.next(data('a'));
  late.parts.next(whole('b'));
  t.deepEqual(await late.done(), [`head 201 ${ids}`, 'string a', 'close']);
  const early = writing();
  early.writer.answer({ type: 'whole', status: 503, headers: {}, body: 'b' }, true);
  early.writer.answer({ type: 'whole', status: 503, headers: {}, body: 'c' }, false);
  t.deepEqual(await early.done(), [`head 503 ${ids}`, 'endWith b close']);
});
