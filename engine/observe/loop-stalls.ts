import type { LoopStall } from '../runtime/loop-watch.ts';
import type { AppLog } from './log/logs.ts';

/** How often a step has held the event loop. */
interface StallCount {
  readonly step: string;
  readonly count: number;
  readonly longestMs: number;
}

/** Steps that are counted. A bound, since configurations and their stages may change without end. */
const maxSteps = 100;

/** Lines in the log have at least this distance, in milliseconds; one says how many have been left out. */
const logEveryMs = 10_000;

/** Counts what held the event loop of this process, and logs it. */
export class LoopStalls {
  readonly #log: Pick<AppLog, 'info' | 'warn'>;
  readonly #nowMs: () => number;
  readonly #counts = new Map<string, { count: number; longestMs: number }>();
  #loggedMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  /** `nowMs`: a monotonic clock, in milliseconds. */
  constructor(log: Pick<AppLog, 'info' | 'warn'>, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  add({ step, ms }: LoopStall): void {
    const known = this.#counts.get(step) ?? { count: 0, longestMs: 0 };
    if (this.#counts.size < maxSteps || known.count > 0) this.#counts.set(step, known);
    known.count += 1;
    known.longestMs = Math.max(known.longestMs, Math.round(ms));
    const nowMs = this.#nowMs();
    if (nowMs - this.#loggedMs < logEveryMs) {
      this.#unlogged += 1;
      return;
    }
    const others = this.#unlogged > 0 && { others: this.#unlogged };
    // What isn't a step may also be a machine that is too busy.
    const level = step === 'other' ? 'info' : 'warn';
    this.#log[level]('all requests had to wait for one step', { step, ms: Math.round(ms), ...others });
    this.#loggedMs = nowMs;
    this.#unlogged = 0;
  }

  /** The longest first. */
  get counts(): readonly StallCount[] {
    return [...this.#counts]
      .map(([step, counted]) => ({ step, ...counted }))
      .sort((one, other) => other.longestMs - one.longestMs);
  }
}
