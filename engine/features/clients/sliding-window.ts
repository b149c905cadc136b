/** Length of the window in seconds: limits are per minute. */
const windowSeconds = 60;

/**
 * Buckets of one second. One more than the window covers the second in progress; another one allows for a clock that differs
 * between processes that exchange counts.
 */
const buckets = windowSeconds + 2;

/**
 * Sums amounts over the last minute. An amount is forgotten 61 to 62 seconds after it was added, never earlier than 60, so a sum that
 * is kept below a limit is below it in any minute. Times are in milliseconds of one clock that never goes back.
 */
export class SlidingWindow {
  readonly #amounts = new Float64Array(buckets);
  /** The newest second. */
  #second = 0;
  #sum = 0;

  /** The sum of what was added within the window. */
  sumAt(nowMs: number): number {
    this.#advance(nowMs);
    return this.#sum;
  }

  /** Adds an amount. Returns the second it was added in, for `correct`. */
  add(amount: number, nowMs: number): number {
    this.#advance(nowMs);
    this.#amounts[this.#second % buckets] = this.#at(this.#second) + amount;
    this.#sum += amount;
    return this.#second;
  }

  /** Changes an amount that was added in this second. What has left the window needs no correction downwards; more counts as new. */
  correct(second: number, by: number, nowMs: number): void {
    this.#advance(nowMs);
    if (second > this.#second - buckets) {
      this.#amounts[second % buckets] = this.#at(second) + by;
      this.#sum += by;
    } else if (by > 0) this.add(by, nowMs);
  }

  /** Milliseconds until the sum is at most `most`, if nothing is added. 0: it is now. */
  waitMs(most: number, nowMs: number): number {
    this.#advance(nowMs);
    let left = this.#sum;
    if (left <= most) return 0;
    for (let age = buckets - 1; age >= 0; age -= 1) {
      const second = this.#second - age;
      left -= second >= 0 ? this.#at(second) : 0;
      // Amounts are whole numbers, which are exact up to 2^53.
      if (left <= most) return (second + buckets) * 1000 - nowMs;
    }
    return buckets * 1000;
  }

  #at(second: number): number {
    return this.#amounts[second % buckets] ?? 0;
  }

  #advance(nowMs: number): void {
    const now = Math.floor(nowMs / 1000);
    if (now <= this.#second) return;
    if (now - this.#second >= buckets) {
      this.#amounts.fill(0);
      this.#sum = 0;
    } else {
      for (let second = this.#second + 1; second <= now; second += 1) {
        this.#sum -= this.#at(second);
        this.#amounts[second % buckets] = 0;
      }
    }
    this.#second = now;
  }
}
