import type { ClientWire } from '../../model/request.ts';
import type { LineMinute } from './questions.ts';
import type { Activity } from './schema.ts';

const minuteMs = 60_000;
/** How many minutes are kept. */
const maxMinutes = 60;

/** A ring of counters by minute: a line's requests that began, and those that failed. */
export class MinuteRing {
  readonly #minutes = new Float64Array(maxMinutes);
  readonly #began = new Uint32Array(maxMinutes);
  readonly #failed = new Uint32Array(maxMinutes);

  began(atMs: number): void {
    const at = this.#slot(atMs);
    this.#began[at] = (this.#began[at] ?? 0) + 1;
  }

  failed(atMs: number): void {
    const at = this.#slot(atMs);
    this.#failed[at] = (this.#failed[at] ?? 0) + 1;
  }

  /** The minutes since this one that have counts. */
  since(first: number): readonly Pick<LineMinute, 'minute' | 'began' | 'failed'>[] {
    return [...this.#minutes].flatMap((minute, at) =>
      minute < first ? [] : [{ minute, began: this.#began[at] ?? 0, failed: this.#failed[at] ?? 0 }],
    );
  }

  #slot(atMs: number): number {
    const minute = Math.floor(atMs / minuteMs);
    const at = minute % maxMinutes;
    if (this.#minutes[at] !== minute) {
      this.#minutes[at] = minute;
      this.#began[at] = 0;
      this.#failed[at] = 0;
    }
    return at;
  }
}

/** The first of the last minutes, which aren't over, as numbers since 1970. */
export const firstMinute = (nowMs: number, minutes: number): number => Math.floor(nowMs / minuteMs) - minutes + 1;

/** The traffic of each line in all processes, minute by minute. */
export const lineTrafficOf = (
  counts: readonly LineMinute[],
  nowMs: number,
  minutes: number,
): NonNullable<Activity['traffic']>['lines'] => {
  const first = firstMinute(nowMs, minutes);
  const lines = new Map<
    string,
    { protocol: ClientWire; provider: string; model: string; began: number[]; failed: number[] }
  >();
  for (const { protocol, provider, model, minute, began, failed } of counts) {
    const at = minute - first;
    if (at < 0 || at >= minutes) continue;
    const key = JSON.stringify([protocol, provider, model]);
    const empty = () => Array<number>(minutes).fill(0);
    const line = lines.get(key) ?? { protocol, provider, model, began: empty(), failed: empty() };
    lines.set(key, line);
    line.began[at] = (line.began[at] ?? 0) + began;
    line.failed[at] = (line.failed[at] ?? 0) + failed;
  }
  return [...lines.values()];
};
