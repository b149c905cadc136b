import { connect, type Socket } from 'node:net';
import test from 'ava';
import { concat, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import type { Backpressure } from '../../../engine/backpressure.ts';
import type { ReplyPart } from '../../../engine/http/endpoint.ts';
import type { RequestOutcome } from '../../../engine/http/settings.ts';
import { until } from '../../support/until.ts';
import { endpoint, headerOf, raw, serve, statusesOf } from './rig.ts';

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
  parts.complete();
  await until(() => received.join('').endsWith('0\r\n\r\n'));
  t.true(received.join('').includes('4\r\nzwö'));
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
  ['data without a head', of(data('x')), 500, 'internal'],
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

test('a client that disconnects mid-stream is unsubscribed within 100 ms', async (t) => {
  const records: RequestOutcome[] = [];
  let goneAt = 0;
  const parts = new Observable<ReplyPart>((to) => {
    to.next(head);
    const timer = setInterval(() => to.next(data('tick')), 5);
    return () => {
      goneAt = performance.now();
      clearInterval(timer);
    };
  });
  const listener = await serve(t, answered(parts), { hooks: { finished: (_, outcome) => records.push(outcome) } });
  const socket = connect(listener.port, '127.0.0.1', () => socket.write(asked));
  await new Promise((resolve) => socket.once('data', resolve));
  const leftAt = performance.now();
  socket.destroy();
  await until(() => goneAt > 0);
  t.true(goneAt - leftAt < 100);
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
