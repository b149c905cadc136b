import { connect } from 'node:net';
import test from 'ava';
import { concat, NEVER, Observable, of, timer } from 'rxjs';
import { map } from 'rxjs/operators';
import type { ReplyPart } from '../../../engine/http/endpoint.ts';
import { type Linked, LinkedSet, Ticker } from '../../../engine/http/ticker.ts';
import { until } from '../../support/until.ts';
import { echo, endpoint, serve } from './rig.ts';

/** Longer than the 8 to 12 seconds after which the native code by itself closes a connection. */
const longMs = 14_000;

const asked = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const head: ReplyPart = { type: 'head', status: 200, headers: {} };
const data = (text: string | Uint8Array): ReplyPart => ({ type: 'data', data: text });
const later = (part: ReplyPart) => timer(longMs).pipe(map(() => part));

interface Member extends Linked<Member> {
  readonly name: string;
}

test('a linked set keeps the order of addition, whatever is removed, and visits nothing that is removed meanwhile', (t) => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name): Member => ({ name, before: undefined, after: undefined }));
  if (!a || !b || !c || !d) return t.fail();
  const set = new LinkedSet<Member>();
  const names = (): string => [...set].map(({ name }) => name).join('');
  set.delete(a);
  for (const member of [a, b, c, d, b]) set.add(member);
  t.is(names(), 'abcd');
  for (const [removed, left] of [
    [b, 'acd'],
    [b, 'acd'],
    [d, 'ac'],
    [a, 'c'],
    [c, ''],
  ] as const) {
    set.delete(removed);
    t.is(names(), left);
    t.is(set.size, left.length);
    // A member that is gone leads to no other.
    t.deepEqual([removed.before, removed.after, set.has(removed)], [undefined, undefined, false]);
  }
  for (const member of [c, a, b]) set.add(member);
  const visited: string[] = [];
  for (const { name } of set) {
    visited.push(name);
    set.delete(a);
    set.add(d);
  }
  t.deepEqual(visited, ['c', 'b']);
  t.is(names(), 'cbd');
});

test('the ticker ticks only while it has listeners', async (t) => {
  const ticker = new Ticker(10);
  let ticks = 0;
  const listener = { before: undefined, after: undefined, tick: () => (ticks += 1) };
  ticker.add(listener);
  ticker.add(listener);
  await until(() => ticks >= 3);
  ticker.delete(listener);
  ticker.delete(listener);
  const seen = ticks;
  await new Promise((resolve) => setTimeout(resolve, 40));
  t.is(ticks, seen);
  ticker.add(listener);
  await until(() => ticks > seen);
  ticker.delete(listener);
});

test('a body of 2 KiB each second is read to its end', async (t) => {
  const { port } = await serve(t, [{ method: 'POST', path: '/', endpoint: echo }]);
  const allBytes = (longMs / 1000) * 2048;
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${allBytes}\r\n\r\n`),
  );
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes;
  });
  // By the clock: a busy machine may be late by more than a second.
  let sentBytes = 0;
  let sinceMs = performance.now();
  const sending = setInterval(() => {
    const seconds = Math.floor((performance.now() - sinceMs) / 1000);
    sinceMs += seconds * 1000;
    const bytes = Math.min(2048 * seconds, allBytes - sentBytes);
    sentBytes += bytes;
    socket.write('x'.repeat(bytes));
  }, 1000);
  t.teardown(() => {
    clearInterval(sending);
    socket.destroy();
  });
  await until(() => received.includes('200 OK') || socket.closed);
  t.true(received.includes('200 OK'));
});

const large = Buffer.alloc(12_000_000, 'x');
const answers: readonly (readonly [string, Observable<ReplyPart>])[] = [
  ['a stream', concat(of(head), of(data(large)), of(data('end')))],
  ['a whole answer', of({ type: 'whole', status: 200, headers: {}, body: Buffer.concat([large, Buffer.from('end')]) })],
];
for (const [title, parts] of answers) {
  test(`a client may leave ${title} unread for a while`, async (t) => {
    const { port } = await serve(t, [{ method: 'GET', path: '/', endpoint: endpoint(() => parts) }]);
    const socket = connect(port, '127.0.0.1', () => socket.write(asked));
    t.teardown(() => socket.destroy());
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, longMs));
    let size = 0;
    let tail = '';
    socket.on('data', (bytes) => {
      size += bytes.length;
      tail = (tail + bytes.toString('latin1')).slice(-20);
    });
    socket.resume();
    await until(() => tail.includes('end'));
    t.true(size > large.length);
  });
}

test('a stream may be silent for a while, also after a client was slow', async (t) => {
  const parts = concat(of(head, data('begin')), of(data(large)), later(data('end')), NEVER);
  const { port } = await serve(t, [{ method: 'GET', path: '/', endpoint: endpoint(() => parts) }]);
  const socket = connect(port, '127.0.0.1', () => socket.write(asked));
  t.teardown(() => socket.destroy());
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 5000));
  let tail = '';
  socket.on('data', (bytes) => {
    tail = (tail + bytes.toString('latin1')).slice(-20);
  });
  socket.resume();
  await until(() => tail.includes('end'));
  t.pass();
});

test('an endpoint may take its time before it answers', async (t) => {
  const parts = new Observable<ReplyPart>((to) => {
    const slow = setTimeout(() => {
      to.next({ type: 'whole', status: 200, headers: {}, body: 'late' });
      to.complete();
    }, longMs);
    return () => clearTimeout(slow);
  });
  const { port } = await serve(t, [{ method: 'GET', path: '/', endpoint: endpoint(() => parts) }]);
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  t.is(await answer.text(), 'late');
});
