/** How long a base URL that failed is passed over, in milliseconds. */
const restMs = 30_000;

/**
 * Which of a provider's base URLs take requests: the first in the configured order that hasn't just failed. When all have, the one
 * that failed first is tried.
 */
export class Addresses {
  /** By index: until when it is passed over. Times are those of the health's clock. */
  readonly #restUntilMs: number[] = [];

  /** The index for the next attempt, of so many. */
  choose(count: number, nowMs: number): number {
    let best = 0;
    for (let index = 0; index < count; index += 1) {
      const untilMs = this.#untilMs(index);
      if (untilMs <= nowMs) return index;
      if (untilMs < this.#untilMs(best)) best = index;
    }
    return best;
  }

  /** Whether one of them hasn't just failed. */
  hasUsable(count: number, nowMs: number): boolean {
    return this.#untilMs(this.choose(count, nowMs)) <= nowMs;
  }

  failed(index: number, nowMs: number): void {
    this.#restUntilMs[index] = nowMs + restMs;
  }

  #untilMs(index: number): number {
    return this.#restUntilMs[index] ?? 0;
  }
}
