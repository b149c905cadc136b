import test from 'ava';
import { testTime } from '../../support/test-time.ts';

test('a steady clock counts sleep once, and ignores a clock that is set back or a little forward', (t) => {
  const { clock, ...time } = testTime();
  const startMs = clock.nowMs();
  let woken = 0;
  const stop = clock.onWake(() => {
    woken += 1;
  });
  const is = (passedMs: number, times: number) => t.deepEqual([clock.nowMs() - startMs, woken], [passedMs, times]);
  time.pass(50_000);
  is(50_000, 0);
  time.setBack(3_600_000);
  is(50_000, 0);
  time.sleep(19_000);
  is(50_000, 0);
  time.sleep(600_000);
  is(650_000, 1);
  time.pass(10_000);
  is(660_000, 1);
  time.sleep(600_000);
  time.pass(1_000);
  t.is(woken, 2, 'by its own look, without a question');
  is(1_261_000, 2);
  // A slow drift of the clocks adds up to nothing.
  for (let count = 0; count < 100; count += 1) {
    time.sleep(500);
    time.pass(1_000);
  }
  is(1_361_000, 2);
  stop();
  t.is(time.timers(), 0);
});

test('a monotonic clock that goes on during sleep, or a process that was stopped, is noticed too', (t) => {
  const { clock, ...time } = testTime();
  const startMs = clock.nowMs();
  let woken = 0;
  t.teardown(
    clock.onWake(() => {
      woken += 1;
    }),
  );
  time.stop(600_000);
  t.deepEqual([clock.nowMs() - startMs, woken], [600_000, 1]);
});
