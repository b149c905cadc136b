import { performance } from 'node:perf_hooks';

/** The time sources of a steady clock. */
interface TimeSource {
  /** Milliseconds of a monotonic clock, which may stop while the machine sleeps. */
  readonly monotonicMs: () => number;
  /** Milliseconds since 1970 by the system's clock, which can be set. */
  readonly wallMs: () => number;
  /** Calls `act` after so many milliseconds, unless the returned function is called before. */
  readonly after: (ms: number, act: () => void) => () => void;
  /** Calls `act` every so many milliseconds, until the returned function is called. Doesn't keep the process alive. */
  readonly every: (ms: number, act: () => void) => () => void;
}

/** Milliseconds between two looks at the clocks. */
const tickMs = 1_000;

/** Time that must be missing to count as sleep, in milliseconds. Less harms no connection, and corrections of clocks are smaller. */
const shortestSleepMs = 20_000;

/**
 * A monotonic clock that includes the time asleep. Notices sleep by the wall clock, which runs ahead of
 * the monotonic one, or, where that one doesn't stand still, by a look that comes far too late, as after a stopped process. A wall clock that is set
 * back changes nothing; one that is set forward by more than `shortestSleepMs` can't be told from sleep.
 */
export class SteadyClock {
  readonly #source: TimeSource;
  readonly #listeners = new Set<() => void>();
  #monotonicMs: number;
  #wallMs: number;
  /** Sleep so far that the monotonic clock doesn't count. */
  #asleepMs = 0;
  #stop: (() => void) | undefined;

  constructor(source: TimeSource) {
    this.#source = source;
    this.#monotonicMs = source.monotonicMs();
    this.#wallMs = source.wallMs();
  }

  /** Milliseconds. Notices sleep by itself: the first request after it may come before the next look. */
  readonly nowMs = (): number => {
    this.#look();
    return this.#monotonicMs + this.#asleepMs;
  };

  /** Calls `act` after so many milliseconds awake, unless the returned function is called before. */
  after(ms: number, act: () => void): () => void {
    return this.#source.after(ms, act);
  }

  /** Calls `woke` after each sleep, until the returned function is called. */
  onWake(woke: () => void): () => void {
    this.#look();
    this.#listeners.add(woke);
    this.#stop ??= this.#source.every(tickMs, () => this.#look());
    return () => {
      this.#listeners.delete(woke);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  #look(): void {
    const monotonicMs = this.#source.monotonicMs();
    const wallMs = this.#source.wallMs();
    const passedMs = monotonicMs - this.#monotonicMs;
    const aheadMs = wallMs - this.#wallMs - passedMs;
    this.#monotonicMs = monotonicMs;
    this.#wallMs = wallMs;
    if (aheadMs >= shortestSleepMs) this.#asleepMs += aheadMs;
    else if (passedMs < shortestSleepMs + tickMs) return;
    for (const woke of this.#listeners) woke();
  }
}

/** The machine's clock, in milliseconds since 1970. */
export const steadyClock = new SteadyClock({
  monotonicMs: () => performance.timeOrigin + performance.now(),
  wallMs: Date.now,
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  every(ms, act) {
    const timer = setInterval(act, ms).unref();
    return () => clearInterval(timer);
  },
});
