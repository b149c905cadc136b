/** Milliseconds for which a failed base URL is skipped. */
const restMs = 30_000;

/**
 * Chooses a provider's base URL: the first in the configured order that hasn't just failed. If all have, the one
 * that failed first.
 */
export class Addresses {
  /** By index: the time until which it is skipped, by the clock of `UpstreamHealth`. */
  readonly #restUntilMs: number[] = [];

  /** The index of the base URL for the next attempt; `count` is their number. */
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
