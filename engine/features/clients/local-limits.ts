import { LRUCache } from 'lru-cache';
import { Window } from '../../hub/window.ts';
import type { Admission, WindowLimit, WindowUse } from '../../hub/window-lease.ts';

/** LimitCounts that are decided by what was admitted before: by this process, or by all that share them. */
export interface LimitCounts {
  /** Consumes `count` units of a limit; `undefined`: it is exhausted. Waits only for other processes. */
  readonly admit: (
    id: string,
    limit: WindowLimit,
    count: number,
  ) => Admission | undefined | Promise<Admission | undefined>;
  /** Takes `by` more than were admitted, or gives them back. */
  readonly correct: (id: string, limit: WindowLimit, admission: Admission, by: number) => void;
  /** What is used, as far as it is known here. */
  readonly usage: (id: string, limit: WindowLimit) => WindowUse | undefined;
  /** Takes one of `max` at a time, until its release. */
  readonly acquire: (id: string, max: number) => boolean | Promise<boolean>;
  readonly release: (id: string) => void;
}

/** Maximum limits in memory. A configuration has fewer, but it may change any number of times. */
const maxLimits = 4_000;

/** The limits of a process that shares them with no other. */
export class LocalLimits implements LimitCounts {
  readonly #nowMs: () => number;
  readonly #windows = new LRUCache<string, Window>({ max: maxLimits });
  /** What the windows with a limit are limited by. */
  readonly #limits = new LRUCache<string, WindowLimit>({ max: maxLimits });
  readonly #active = new LRUCache<string, number>({ max: maxLimits });

  /** `nowMs`: a clock that never goes back, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  admit(id: string, limit: WindowLimit, count: number): Admission | undefined {
    const window = this.#windowOf(id, limit);
    this.#limits.set(id, limit);
    return window.used(this.#nowMs()) + count > limit.max ? undefined : { slot: window.add(this.#nowMs(), count) };
  }

  /** Counts what was admitted elsewhere. */
  count(id: string, limit: WindowLimit, count: number): Admission {
    return { slot: this.#windowOf(id, limit).add(this.#nowMs(), count) };
  }

  correct(id: string, limit: WindowLimit, { slot }: Admission, by: number): void {
    if (slot !== undefined) this.#windowOf(id, limit).correct(this.#nowMs(), slot, by);
  }

  usage(id: string, limit: WindowLimit): WindowUse {
    const window = this.#windowOf(id, limit);
    return { used: window.used(this.#nowMs()), waitMs: (most) => window.waitMs(this.#nowMs(), most) };
  }

  acquire(id: string, max: number): boolean {
    if (this.active(id) >= max) return false;
    this.addActive(id);
    return true;
  }

  /** Takes one, whatever the limit is. */
  addActive(id: string): void {
    this.#active.set(id, this.active(id) + 1);
  }

  release(id: string): void {
    const left = this.active(id) - 1;
    if (left > 0) this.#active.set(id, left);
    else this.#active.delete(id);
  }

  /** How many are taken. */
  active(id: string): number {
    return this.#active.get(id) ?? 0;
  }

  /** Counts in limits that are shared from now on what was admitted without the others. */
  handOver(shared: Pick<LimitCounts, 'correct'>): void {
    for (const [id, limit] of this.#limits) shared.correct(id, limit, { slot: undefined }, this.usage(id, limit).used);
    this.#limits.clear();
  }

  #windowOf(id: string, { windowMs }: WindowLimit): Window {
    const known = this.#windows.get(id);
    if (known) return known;
    const window = new Window(windowMs);
    this.#windows.set(id, window);
    return window;
  }
}
