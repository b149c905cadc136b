import test from 'ava';
import fc from 'fast-check';
import { Window } from '../../../engine/hub/window.ts';

const startMs = Date.UTC(2026, 0, 1);

interface Admission {
  readonly atMs: number;
  readonly amount: number;
}

/** What a limit admits of these requests: pauses in milliseconds, and amounts. */
const admitted = (
  limit: number,
  asked: readonly (readonly [pauseMs: number, amount: number])[],
): readonly Admission[] => {
  const window = new Window(60_000);
  let nowMs = startMs;
  return asked.flatMap(([pauseMs, amount]) => {
    nowMs += pauseMs;
    if (window.used(nowMs) + amount > limit) return [];
    window.add(nowMs, amount);
    return [{ atMs: nowMs, amount }];
  });
};

/** The most that was admitted in any 60 seconds, both ends included. */
const mostInAMinute = (all: readonly Admission[]): number =>
  Math.max(
    0,
    ...all.map(({ atMs: from }) =>
      all.reduce((sum, { atMs, amount }) => (atMs >= from && atMs <= from + 60_000 ? sum + amount : sum), 0),
    ),
  );

test('a limit is never exceeded in any minute, whatever comes when', (t) => {
  const pause = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 50 }),
    fc.integer({ min: 0, max: 70_000 }),
    fc.constantFrom(999, 1000, 1001, 59_999, 60_000, 60_001),
  );
  const asked = fc.array(fc.tuple(pause, fc.integer({ min: 1, max: 40 })), { maxLength: 150 });
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        asked,
        (limit, list) => mostInAMinute(admitted(limit, list)) <= limit,
      ),
      { numRuns: 1_000 },
    ),
  );
});

test('at least 95 % of a limit is used under constant load above it, of at least five requests a second', (t) => {
  const minutes = 10;
  const load = fc
    .integer({ min: 20, max: 500 })
    .chain((limit) =>
      fc.tuple(fc.constant(limit), fc.integer({ min: 10, max: Math.min(200, Math.floor(60_000 / limit / 1.1)) })),
    );
  t.notThrows(() =>
    fc.assert(
      fc.property(load, fc.integer({ min: 0, max: 999 }), ([limit, everyMs], offset) => {
        const count = Math.floor((minutes * 60_000) / everyMs);
        const asked = Array.from({ length: count }, (_, index) => [index === 0 ? offset : everyMs, 1] as const);
        const all = admitted(limit, asked);
        return all.length >= 0.95 * limit * minutes && mostInAMinute(all.slice(0, 3 * limit)) <= limit;
      }),
      { numRuns: 30 },
    ),
  );
});

test('the wait is exact: a millisecond earlier the sum is still too large', (t) => {
  const adds = fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 9 })), {
    minLength: 1,
    maxLength: 20,
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(adds, fc.integer({ min: 0, max: 30 }), (list, most) => {
        const fill = (): [Window, number] => {
          const window = new Window(60_000);
          let nowMs = startMs;
          for (const [pauseMs, amount] of list) {
            nowMs += pauseMs;
            window.add(nowMs, amount);
          }
          return [window, nowMs];
        };
        const [window, nowMs] = fill();
        const waitMs = window.waitMs(nowMs, most);
        if (waitMs === 0) return window.used(nowMs) <= most;
        const [earlier] = fill();
        return earlier.used(nowMs + waitMs - 1) > most && window.used(nowMs + waitMs) <= most;
      }),
      { numRuns: 1_000 },
    ),
  );
});

test('a correction counts in its own second, and one that comes too late only upwards', (t) => {
  const window = new Window(60_000);
  const second = window.add(startMs, 100);
  window.correct(startMs + 30_000, second, -60);
  t.is(window.used(startMs + 30_000), 40);
  window.correct(startMs + 31_000, second, 20);
  t.is(window.used(startMs + 61_999), 60);
  t.is(window.used(startMs + 62_000), 0, 'the correction leaves with what it corrects');
  window.correct(startMs + 63_000, second, -10);
  t.is(window.used(startMs + 63_000), 0);
  window.correct(startMs + 64_000, second, 10);
  t.is(window.used(startMs + 64_000), 10);
  t.is(window.used(startMs + 3_600_000), 0);
});

test('a clock that goes back changes nothing', (t) => {
  const window = new Window(60_000);
  window.add(startMs, 5);
  t.is(window.used(startMs - 100_000), 5);
  window.add(startMs - 100_000, 1);
  t.is(window.used(startMs), 6);
});
