/** When to put a new worker in the place of one that fell. */
export interface BackOff {
  /** The time to wait, in milliseconds, for a worker that had served for `livedMs`. */
  readonly next: (livedMs: number) => number;
}

const firstMs = 100;
const longestMs = 10_000;
/** A worker that served for so long didn't fall because of how it starts. */
const healthyMs = 60_000;

/** Hardly any time at first, then twice as long for each worker that fell soon after it came, up to ten seconds. */
export const backOff = (): BackOff => {
  let waitMs = firstMs;
  return {
    next(livedMs) {
      if (livedMs >= healthyMs) waitMs = firstMs;
      const now = waitMs;
      waitMs = Math.min(longestMs, waitMs * 2);
      return now;
    },
  };
};
