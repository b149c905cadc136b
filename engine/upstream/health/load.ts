/** The share of the newest measurement in the average. */
const newest = 0.3;

/** Milliseconds after which an average counts half, so that a model that was slow gets another chance. */
const halfLifeMs = 30_000;

/** Duration that a failed attempt counts as, in milliseconds, so that a model that fails fast isn't taken for a fast one. */
const failedMs = 10_000;

/** The requests in flight to a model and the average time until its answers begin. Kept only where there are pools. */
export class Load {
  #live = 0;
  #averageMs: number | undefined;
  /** When the model was last chosen or measured. */
  #touchedMs = 0;

  /** Requests in flight, each until the end of its answer. */
  get live(): number {
    return this.#live;
  }

  /** Called when a request is sent here. */
  entered(nowMs: number): void {
    this.#live += 1;
    this.#touchedMs = nowMs;
  }

  /** Called when the request ends or moves to another destination. */
  left(): void {
    this.#live -= 1;
  }

  /** An answer has begun after so many milliseconds. */
  began(afterMs: number, nowMs: number): void {
    this.#averageMs = this.#averageMs === undefined ? afterMs : this.#averageMs + newest * (afterMs - this.#averageMs);
    this.#touchedMs = nowMs;
  }

  /** An attempt has failed before its answer began. */
  failed(nowMs: number): void {
    this.began(failedMs, nowMs);
  }

  /**
   * The average in milliseconds, less the longer ago the model was chosen: then one request measures it again. Without any
   * measurement 0, or infinite while the first is under way.
   */
  expectedMs(nowMs: number): number {
    if (this.#averageMs === undefined) return this.#live === 0 ? 0 : Number.POSITIVE_INFINITY;
    return this.#averageMs * 2 ** (Math.min(0, this.#touchedMs - nowMs) / halfLifeMs);
  }
}
