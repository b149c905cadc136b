import test from 'ava';
import type { RequestHooks } from '../../../engine/http/settings.ts';
import { tuneHeap } from '../../../engine/service/heap-tuning.ts';

const request = { id: 'r', number: 1, method: 'POST', path: '/', query: '', remoteAddress: '127.0.0.1' };
const outcome = { status: 200, durationMs: 1, aborted: false };

const counted = (inner: RequestHooks = {}) => {
  const flags: string[] = [];
  const hooks = tuneHeap(inner, (flag) => flags.push(flag));
  const start = (count: number) => {
    for (let n = 0; n < count; n += 1) hooks.started?.(request);
  };
  const finish = (count: number) => {
    for (let n = 0; n < count; n += 1) hooks.finished?.(request, outcome);
  };
  return { flags, hooks, start, finish };
};

test('the heap is tuned under load, and the flag is set only on changes', (t) => {
  const { flags, start, finish } = counted();
  start(199);
  finish(199);
  start(199);
  t.deepEqual(flags, [], 'requests that are over do not count');
  start(1);
  t.deepEqual(flags, ['--heap-growing-percent=25']);
  start(800);
  finish(899);
  start(300);
  t.deepEqual(flags, ['--heap-growing-percent=25'], 'between the two bounds it stays as it is');
  finish(301);
  t.deepEqual(flags, ['--heap-growing-percent=25', '--heap-growing-percent=0']);
  start(100);
  t.is(flags.length, 3, 'the next crowd is one as well');
});

test('other hooks hear all that they heard before', (t) => {
  const heard: unknown[] = [];
  const { hooks, start, finish } = counted({
    started: (of) => heard.push(of),
    finished: (...of) => heard.push(of),
    warn: (line) => heard.push(line),
  });
  start(1);
  finish(1);
  hooks.warn?.('line');
  t.deepEqual(heard, [request, [request, outcome], 'line']);
});

test('V8 takes the flag', (t) => {
  const hooks = tuneHeap({});
  t.notThrows(() => {
    for (let n = 0; n < 200; n += 1) hooks.started?.(request);
    for (let n = 0; n < 200; n += 1) hooks.finished?.(request, outcome);
  });
});
