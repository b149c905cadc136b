import { performance } from 'node:perf_hooks';

/** A member of a `LinkedSet`, and of no other at the same time; only the set writes its fields. */
export interface Linked<T> {
  before: T | undefined;
  after: T | undefined;
}

/**
 * A set of what is in flight, the oldest first. A `Set` leaves a dead table behind each time that it is compacted; once one has
 * become old, all requests that it lists survive young collections, and so do the next tables.
 */
export class LinkedSet<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(member: T): boolean {
    return member.before !== undefined || this.#first === member;
  }

  add(member: T): void {
    if (this.has(member)) return;
    member.before = this.#last;
    if (this.#last) this.#last.after = member;
    else this.#first = member;
    this.#last = member;
    this.#size += 1;
  }

  delete(member: T): void {
    if (!this.has(member)) return;
    const { before, after } = member;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    member.before = undefined;
    member.after = undefined;
    this.#size -= 1;
  }

  /** Visits those that are members at the call, without those that are removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    const all: T[] = [];
    for (let member = this.#first; member; member = member.after) all.push(member);
    for (const member of all) if (this.has(member)) yield member;
  }
}

/** Called on every tick of a `Ticker`. */
export interface TickListener extends Linked<TickListener> {
  /** `nowMs` is of the ticker's clock. */
  readonly tick: (nowMs: number) => void;
}

/** One timer for all requests that wait. It only runs while there are listeners; a timer per request would cost more. */
export class Ticker {
  readonly #listeners = new LinkedSet<TickListener>();
  readonly #tickMs: number;
  /** Its clock, in milliseconds: listeners measure by it. */
  readonly nowMs: () => number;
  #timer: NodeJS.Timeout | undefined;

  constructor(tickMs: number, nowMs = () => performance.now()) {
    this.#tickMs = tickMs;
    this.nowMs = nowMs;
  }

  add(listener: TickListener): void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  /** The timer runs on until the next tick: listeners come and go faster than it ticks. */
  delete(listener: TickListener): void {
    this.#listeners.delete(listener);
  }

  #tick(): void {
    if (this.#listeners.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const nowMs = this.nowMs();
    for (const listener of this.#listeners) listener.tick(nowMs);
  }
}
