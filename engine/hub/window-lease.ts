import type { WindowAsk, WindowGrant } from './contract.ts';
import { countedUntilMs, slotMs, stillCounted, Window } from './window.ts';

/** A limit of so many in any window of so many milliseconds. */
export interface WindowLimit {
  readonly max: number;
  readonly windowMs: number;
}

/** Part of the limit that this member may use for a while. */
interface Block {
  readonly slot: number;
  readonly untilMs: number;
  left: number;
}

/** What the store said last. */
interface LastWord {
  readonly atMs: number;
  readonly used: WindowGrant['used'];
  readonly members: number;
}

/** What all members have used of a limit, as far as is known. */
export interface WindowUse {
  readonly used: number;
  /** Milliseconds until so many are used at most, if no more come. */
  readonly waitMs: (most: number) => number;
}

/** What was admitted: the slot that it is counted in; `undefined`: it was admitted without a lease. */
export interface Admission {
  readonly slot: number | undefined;
}

/** An ask whose answer hasn't come yet. */
interface OpenAsk {
  readonly atMs: number;
  readonly want: number;
  readonly back: readonly (readonly [slot: number, count: number])[];
  /** Admitted without a lease, which is part of `seed` if there is one. */
  readonly unleased: number;
  readonly seed: readonly (readonly [age: number, count: number])[] | undefined;
}

/** Ticks whose demand is at hand where there is plenty: longer than a store that hangs goes unnoticed. */
const ticksAhead = 3;
/** The part of what is left of a limit that one member may take ahead. */
const aheadShare = 0.25;
/** Weight of the newest tick in the expected demand. */
const weight = 0.5;

/**
 * A member's part of a limit of all members. It is taken from the store in blocks ahead of need, used without a call, and what
 * isn't used within a sixtieth of the window goes back. So the members together never admit more than the limit in any window.
 */
export class WindowLease {
  readonly #id: string;
  readonly #limit: WindowLimit;
  #blocks: readonly Block[] = [];
  #back: [slot: number, count: number][] = [];
  /** Admitted without a lease since the last word. */
  #unleased: Window;
  #unreported = 0;
  /** Admitted by this member: what a store that has lost everything is told. */
  readonly #own: Window;
  #isSeeding = false;
  /** Asked for since the last tick, and expected per tick. */
  #asked = 0;
  #expected = 0;
  /** When it was asked for last. */
  #askedMs = 0;
  /** What the last ask was made of, until its answer. */
  #open: OpenAsk | undefined;
  #last: LastWord | undefined;
  /** The store has nothing left before. */
  #refusedUntilMs = 0;

  constructor(id: string, limit: WindowLimit) {
    this.#id = id;
    this.#limit = limit;
    this.#unleased = new Window(limit.windowMs);
    this.#own = new Window(limit.windowMs);
  }

  /** Admits so many if the blocks at hand allow it. */
  take(nowMs: number, count: number): Admission | undefined {
    this.#asked += count;
    this.#askedMs = nowMs;
    return this.#use(nowMs, count);
  }

  /** Admits so many that have waited for a grant: they were counted when they asked. */
  takeGranted(nowMs: number, count: number): Admission | undefined {
    return this.#use(nowMs, count);
  }

  /** Counts more or fewer than were admitted. Of what was admitted without a lease, nothing is given back. */
  correct(nowMs: number, { slot }: Admission, by: number): void {
    if (by < 0 && slot !== undefined) this.#giveBack(slot, -by);
    else if (by > 0) this.#addUnleased(nowMs, by);
  }

  /** Whether it is known that asking is useless now. */
  isUsedUp(nowMs: number): boolean {
    return nowMs < this.#refusedUntilMs;
  }

  /**
   * Admits so many without the store, by this member's share of what was left at the last word: members that are cut off admit
   * together what the limit allows, and at most one share more, since they don't know what others got after that word. Without a
   * word on this limit, what the others have used is unknown, and the share is that of the whole limit among `members`.
   */
  takeShare(nowMs: number, members: number, count: number): Admission | undefined {
    const { max, windowMs } = this.#limit;
    const last = this.#last ?? { atMs: nowMs, used: [], members: Math.max(1, members) };
    const others = stillCounted(last.used, nowMs - last.atMs, windowMs) / last.members;
    if (this.#unleased.used(nowMs) + count + others > max / last.members) return undefined;
    this.#addUnleased(nowMs, count);
    return { slot: undefined };
  }

  /** What all members have used: what the store has counted, without what this one has at hand. */
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

  /** What to ask of the store now, with `waiting` more that need a grant; `undefined`: nothing. */
  ask(nowMs: number, waiting: number, isTick: boolean): WindowAsk | undefined {
    if (this.#open) return undefined;
    this.#expire(nowMs);
    if (isTick) {
      this.#expected = this.#expected * (1 - weight) + this.#asked * weight;
      if (this.#expected < 0.1) this.#expected = 0;
      this.#asked = 0;
    }
    const left = this.#blocks.reduce((sum, block) => sum + block.left, 0);
    const want = this.isUsedUp(nowMs) ? 0 : Math.max(0, Math.ceil(this.#ahead(nowMs)) + waiting - left);
    // While it is in use, the store's word is kept fresh: it is what a share is of.
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

  /** What to have at hand: the demand of a tick, and of some more where others don't need it. */
  #ahead(nowMs: number): number {
    const { max, windowMs } = this.#limit;
    const last = this.#last;
    if (!last) return this.#expected;
    const unused = max - stillCounted(last.used, nowMs - last.atMs, windowMs);
    const spare = Math.max(0, Math.floor((unused * aheadShare) / last.members));
    return Math.max(this.#expected, Math.min(ticksAhead * this.#expected, spare));
  }

  /** Takes the store's answer to the last ask. `isFresh`: the store doesn't know yet what the members have admitted. */
  grant({ granted, slot, used }: WindowGrant, members: number, nowMs: number, isFresh: boolean): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#back = this.#back.slice(open.back.length);
    this.#isSeeding &&= open.seed === undefined;
    this.#unreported -= open.unleased;
    if (isFresh) return;
    this.#last = { atMs: open.atMs, used, members: Math.max(1, members) };
    // From now on the store has counted them.
    if (this.#unreported === 0) this.#unleased = new Window(this.#limit.windowMs);
    const life = slotMs(this.#limit.windowMs);
    // The store took it after it was asked, so that counting from the ask is on the safe side.
    if (granted > 0) this.#blocks = [...this.#blocks, { slot, untilMs: open.atMs + life, left: granted }];
    else if (open.want > 0) this.#refusedUntilMs = nowMs + life / 2;
  }

  /** The last ask got no answer. What it gave back is given up, since it may have arrived. */
  failed(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    this.#back = this.#back.slice(open.back.length);
    // Either the seed has arrived, or the next one, which has this too, counts.
    if (open.seed) this.#unreported -= open.unleased;
  }

  /** The store has lost everything: it is told what this member admitted. What is held isn't counted any more. */
  lost(): void {
    this.#blocks = [];
    this.#back = [];
    this.#isSeeding = true;
    this.#refusedUntilMs = 0;
  }

  /** Gives all back that is at hand. */
  giveUp(): void {
    for (const { slot, left } of this.#blocks) if (left > 0) this.#giveBack(slot, left);
    this.#blocks = [];
  }

  /** What an open ask gives back already stays as it is. */
  #giveBack(slot: number, count: number): void {
    const told = this.#open?.back.length ?? 0;
    const known = this.#back.findIndex(([of], index) => index >= told && of === slot);
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
