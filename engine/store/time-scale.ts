/** Times in classes of equal ratio: counts by class add up over processes and hours, and percentiles can be told from them. */
export class TimeScale {
  readonly #fromMs: number;
  readonly #perDecade: number;
  /** Times beyond the last class count in it. */
  readonly classes: number;

  /** `fromMs`: where the first class begins; shorter times count in it too. */
  constructor(fromMs: number, perDecade: number, decades: number) {
    this.#fromMs = fromMs;
    this.#perDecade = perDecade;
    this.classes = decades * perDecade + 1;
  }

  classOf(ms: number): number {
    return Math.min(this.classes - 1, Math.floor(Math.log10(Math.max(1, ms / this.#fromMs)) * this.#perDecade));
  }

  /**
   * A percentile in milliseconds, of counts by class in the order of the classes: as if the times of a class lay evenly in it.
   * `undefined`: there are no counts.
   */
  percentile(counts: readonly (readonly [timeClass: number, count: number])[], fraction: number): number | undefined {
    let left = counts.reduce((sum, [, count]) => sum + count, 0) * fraction;
    const found = counts.find(([, count]) => {
      left -= count;
      return count > 0 && left <= 0;
    });
    if (!found) return undefined;
    const [timeClass, count] = found;
    const ms = this.#fromMs * 10 ** ((timeClass + 1 + left / count) / this.#perDecade);
    return Math.round(ms * 10) / 10;
  }
}
