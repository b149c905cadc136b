import { SteadyClock } from '../../engine/runtime/steady-clock.ts';

interface TestTimer {
  readonly act: () => void;
  readonly everyMs: number | undefined;
  atMs: number;
}

/** A clock that stands still until the test moves it. */
interface TestTime {
  readonly clock: SteadyClock;
  /** Time passes; timers that become due run. */
  readonly pass: (ms: number) => void;
  /** The machine sleeps: timers don't run, and the monotonic clock stands still. */
  readonly sleep: (ms: number) => void;
  /** The process is stopped, or the machine sleeps while its monotonic clock goes on: timers don't run. */
  readonly stop: (ms: number) => void;
  /** The system's clock is set back. */
  readonly setBack: (ms: number) => void;
  /** Timers that wait. */
  readonly timers: () => number;
}

export const testTime = (): TestTime => {
  let monotonicMs = 1_000_000;
  let wallMs = 1_700_000_000_000;
  const timers = new Set<TestTimer>();
  const add = (timer: TestTimer) => {
    timers.add(timer);
    return () => {
      timers.delete(timer);
    };
  };
  const clock = new SteadyClock({
    monotonicMs: () => monotonicMs,
    wallMs: () => wallMs,
    after: (ms, act) => add({ act, everyMs: undefined, atMs: monotonicMs + ms }),
    every: (ms, act) => add({ act, everyMs: ms, atMs: monotonicMs + ms }),
  });
  return {
    clock,
    pass(ms) {
      const untilMs = monotonicMs + ms;
      for (;;) {
        const [next] = [...timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
        const stepMs = Math.max(0, (next?.atMs ?? untilMs) - monotonicMs);
        monotonicMs += stepMs;
        wallMs += stepMs;
        if (!next) return;
        if (next.everyMs === undefined) timers.delete(next);
        else next.atMs += next.everyMs;
        next.act();
      }
    },
    sleep(ms) {
      wallMs += ms;
    },
    stop(ms) {
      monotonicMs += ms;
      wallMs += ms;
    },
    setBack(ms) {
      wallMs -= ms;
    },
    timers: () => timers.size,
  };
};
