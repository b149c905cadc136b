import type { WindowGrant, WindowRequest } from './contract.ts';
import { countedUntilMs, slotMs, stillCounted, Window } from './window.ts';

/** A rate limit: at most `max` in any window of `windowMs`. */
export interface WindowLimit {
  readonly max: number;
  readonly windowMs: number;
}

/** A part of the limit that this member may use until `untilMs`. */
interface Block {
  readonly slot: number;
  readonly untilMs: number;
  left: number;
}

/** The store's last answer. */
interface LastAnswer {
  readonly atMs: number;
  readonly used: WindowGrant['used'];
  readonly members: number;
}

/** All members' known use of a limit. */
export interface WindowUse {
  readonly used: number;
  /** Milliseconds until the use has dropped to `most`, without further requests. */
  readonly waitMs: (most: number) => number;
}

/** An admission: the slot that counts it; `undefined`: admitted without a lease. */
export interface Admission {
  readonly slot: number | undefined;
}

/** A request that the store hasn't answered. */
interface OpenRequest {
  readonly atMs: number;
  readonly want: number;
  readonly back: readonly (readonly [slot: number, count: number])[];
  /** Admitted without a lease; part of `seed` if that is present. */
  readonly unleased: number;
  readonly seed: readonly (readonly [age: number, count: number])[] | undefined;
}

/** Number of ticks whose demand is leased ahead where the limit allows it: longer than a hanging store goes unnoticed. */
const ticksAhead = 3;
/** The part of a limit's rest that one member may lease ahead. */
const aheadShare = 0.25;
/** Weight of the newest tick in the expected demand. */
const weight = 0.5;

/**
 * A member's part of a rate limit. Blocks are leased ahead of need and used without a call; what isn't used within a sixtieth of the
 * window is returned. So the members together never admit more than the limit in any window.
 */
export class WindowLease {
  readonly #id: string;
  readonly #limit: WindowLimit;
  #blocks: readonly Block[] = [];
  #back: [slot: number, count: number][] = [];
  /** Admitted without a lease since the last answer. */
  #unleased: Window;
  #unreported = 0;
  /** Admitted by this member, for a store that was emptied. */
  readonly #own: Window;
  #isSeeding = false;
  /** Demand since the last tick, and expected per tick. */
  #asked = 0;
  #expected = 0;
  /** Time of the last demand. */
  #askedMs = 0;
  /** The request that is open. */
  #open: OpenRequest | undefined;
  #last: LastAnswer | undefined;
  /** The limit is used up until then. */
  #refusedUntilMs = 0;

  constructor(id: string, limit: WindowLimit) {
    this.#id = id;
    this.#limit = limit;
    this.#unleased = new Window(limit.windowMs);
    this.#own = new Window(limit.windowMs);
  }

  /** Admits `count` if the leased blocks allow it. */
  take(nowMs: number, count: number): Admission | undefined {
    this.#asked += count;
    this.#askedMs = nowMs;
    return this.#use(nowMs, count);
  }

  /** Admits `count` that have waited for a grant: their demand is counted already. */
  takeGranted(nowMs: number, count: number): Admission | undefined {
    return this.#use(nowMs, count);
  }

  /** Corrects the count of an admission by `by`. What was admitted without a lease isn't returned. */
  correct(nowMs: number, { slot }: Admission, by: number): void {
    if (by < 0 && slot !== undefined) this.#giveBack(slot, -by);
    else if (by > 0) this.#addUnleased(nowMs, by);
  }

  /** Whether the limit is known to be used up. */
  isUsedUp(nowMs: number): boolean {
    return nowMs < this.#refusedUntilMs;
  }

  /**
   * Admits `count` without the store, within this member's share of the rest as of the last answer. Members that are cut off together
   * admit what the limit allows, plus at most one share, since they don't know what others got after that answer. Without an answer for
   * this limit, the others' use is unknown, and the share is the limit divided by `members`.
   */
  takeShare(nowMs: number, members: number, count: number): Admission | undefined {
    const { max, windowMs } = this.#limit;
    const last = this.#last ?? { atMs: nowMs, used: [], members: Math.max(1, members) };
    const others = stillCounted(last.used, nowMs - last.atMs, windowMs) / last.members;
    if (this.#unleased.used(nowMs) + count + others > max / last.members) return undefined;
    this.#addUnleased(nowMs, count);
    return { slot: undefined };
  }

  /** All members' use: the store's count, without this member's unused blocks. */
  use(nowMs: number): WindowUse | undefined {
    const last = this.#last;
    if (!last) return undefined;
    this.#expire(nowMs);
    const { windowMs } = this.#limit;
    const atHand = this.#blocks.reduce((sum, block) => sum + block.left, 0);
    const laterMs = nowMs - last.atMs;
    return {
      used: Math.max(0, stillCounted(last.used, laterMs, windowMs) + this.#unleased.used(nowMs) - atHand),
      waitMs: (most) => Math.max(0, countedUntilMs(last.used, most + atHand, windowMs) - laterMs),
    };
  }

  /** The next request to the store, with `waiting` more that need a grant; `undefined`: none is needed. */
  ask(nowMs: number, waiting: number, isTick: boolean): WindowRequest | undefined {
    if (this.#open) return undefined;
    this.#expire(nowMs);
    if (isTick) {
      this.#expected = this.#expected * (1 - weight) + this.#asked * weight;
      if (this.#expected < 0.1) this.#expected = 0;
      this.#asked = 0;
    }
    const left = this.#blocks.reduce((sum, block) => sum + block.left, 0);
    const want = this.isUsedUp(nowMs) ? 0 : Math.max(0, Math.ceil(this.#ahead(nowMs)) + waiting - left);
    // While the limit is in use, the last answer is kept fresh: shares are computed from it.
    if (want === 0 && !this.#isActive(nowMs) && this.#back.length === 0 && this.#unreported === 0) return undefined;
    const back = this.#back.slice(0, 128);
    const unleased = this.#unreported;
    const seed = this.#isSeeding ? this.#own.ages(nowMs) : undefined;
    this.#open = { atMs: nowMs, want, back, unleased, seed };
    const { max, windowMs } = this.#limit;
    return {
      id: this.#id,
      max,
      windowMs,
      want: Math.min(want, max),
      back,
      unleased,
      ...(seed && { seed }),
    };
  }

  /** The amount to lease: the demand of a tick, and of further ticks where others don't need it. */
  #ahead(nowMs: number): number {
    const { max, windowMs } = this.#limit;
    const last = this.#last;
    if (!last) return this.#expected;
    const unused = max - stillCounted(last.used, nowMs - last.atMs, windowMs);
    const spare = Math.max(0, Math.floor((unused * aheadShare) / last.members));
    return Math.max(this.#expected, Math.min(ticksAhead * this.#expected, spare));
  }

  /** Takes the store's answer to the open request. `isFresh`: the store doesn't know yet what the members have admitted. */
  grant({ granted, slot, used }: WindowGrant, members: number, nowMs: number, isFresh: boolean): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#back = this.#back.slice(open.back.length);
    this.#isSeeding &&= open.seed === undefined;
    this.#unreported -= open.unleased;
    if (isFresh) return;
    this.#last = { atMs: open.atMs, used, members: Math.max(1, members) };
    // The store has counted them now.
    if (this.#unreported === 0) this.#unleased = new Window(this.#limit.windowMs);
    const life = slotMs(this.#limit.windowMs);
    // The store granted it after the request was sent, so counting from the request is on the safe side.
    if (granted > 0) this.#blocks = [...this.#blocks, { slot, untilMs: open.atMs + life, left: granted }];
    else if (open.want > 0) this.#refusedUntilMs = nowMs + life / 2;
  }

  /** The open request got no answer. What it returned is given up, since it may have arrived. */
  failed(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#back = this.#back.slice(open.back.length);
    // Either the seed has arrived, or the next one, which has this too, counts.
    if (open.seed) this.#unreported -= open.unleased;
  }

  /** The store was emptied: this member reports what it admitted. Its blocks are no longer counted. */
  lost(): void {
    this.#blocks = [];
    this.#back = [];
    this.#isSeeding = true;
    this.#refusedUntilMs = 0;
  }

  /** Returns all unused blocks. */
  giveUp(): void {
    for (const { slot, left } of this.#blocks) if (left > 0) this.#giveBack(slot, left);
    this.#blocks = [];
  }

  /** Leaves what the open request returns as it is. */
  #giveBack(slot: number, count: number): void {
    const sent = this.#open?.back.length ?? 0;
    const known = this.#back.findIndex(([of], index) => index >= sent && of === slot);
    const before = this.#back[known];
    if (before) this.#back[known] = [slot, before[1] + count];
    else this.#back.push([slot, count]);
  }

  #addUnleased(nowMs: number, count: number): void {
    this.#unleased.add(nowMs, count);
    this.#own.add(nowMs, count);
    this.#unreported += count;
  }

  #isActive(nowMs: number): boolean {
    return nowMs - this.#askedMs < this.#limit.windowMs + 2 * slotMs(this.#limit.windowMs);
  }

  #use(nowMs: number, count: number): Admission | undefined {
    this.#expire(nowMs);
    if (this.#blocks.reduce((sum, { left }) => sum + left, 0) < count) return undefined;
    let rest = count;
    let slot: number | undefined;
    for (const block of this.#blocks) {
      const part = Math.min(block.left, rest);
      if (part === 0) continue;
      block.left -= part;
      rest -= part;
      slot = block.slot;
    }
    this.#own.add(nowMs, count);
    return { slot };
  }

  #expire(nowMs: number): void {
    if (!this.#blocks.some(({ untilMs, left }) => untilMs <= nowMs || left === 0)) return;
    for (const { slot, untilMs, left } of this.#blocks) if (untilMs <= nowMs && left > 0) this.#giveBack(slot, left);
    // Slots that have left the window can't be given back.
    this.#back = this.#back.slice(-512);
    this.#blocks = this.#blocks.filter(({ untilMs, left }) => untilMs > nowMs && left > 0);
  }
}
