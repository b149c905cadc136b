import { within } from '../runtime/within.ts';
import {
  type BlobValues,
  type Fact,
  type HubStore,
  maxBlob,
  maxId,
  maxNames,
  type Pull,
  type Push,
} from './contract.ts';
import { Counters } from './counters.ts';
import type { HoldLease } from './hold-lease.ts';
import { Holds } from './holds.ts';
import { SharedFacts } from './shared-facts.ts';
import type { Admission, WindowLimit, WindowUse } from './window-lease.ts';
import { WindowLimits } from './window-limits.ts';

/** How often members exchange, in milliseconds. */
const tickMs = 200;
/** A store that takes longer for an exchange, in milliseconds, counts as silent. Longer than the store's `staleMs`. */
export const exchangeMs = 500;
/** A store that sees a member so many milliseconds after an exchange has begun notices in time that it is missing: `staleMs` later. */
const seenWithinMs = 100;
/**
 * How long a request waits for a decision near a limit, in milliseconds: usually for one answer, at most for the exchange that is
 * under way and the next one, which asks for it.
 */
const defaultWaitMs = 2 * exchangeMs + 50;
/** How long after its start a member waits for the store's first answer before it goes on by its share, in milliseconds. */
const firstAnswerMs = 1_000;

/** Options of a member. */
interface HubOptions {
  readonly store: HubStore;
  /** Unique among all members of all times. */
  readonly member: string;
  /** What the others may know of this member. */
  readonly about?: () => string;
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Whether there is another member to share with; while there isn't, no message is sent. */
  readonly isShared?: () => boolean;
  /** How long a request waits for the store, in milliseconds. */
  readonly waitMs?: number;
  /** The shortest time between two exchanges that requests ask for, in milliseconds; absent: none. Ticks come besides. */
  readonly spacingMs?: number;
  /** Called when the store stops answering, and when it answers again. */
  readonly onSilence?: (isSilent: boolean, problem: string) => void;
  /** Called after each answer of the store. */
  readonly onAnswer?: () => void;
  /** Members to reckon with until the store has said how many there are. */
  readonly expected?: number;
  /** What happens to limits while the store grants no leases; absent: each member goes on by its share. */
  readonly alone?: 'share' | 'refuse' | 'open';
}

/**
 * A member's view of what all members share. All decisions are local; the store is told, and asked, at each tick. If it doesn't
 * answer, the member goes on by itself.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #facts: SharedFacts;
  readonly #sharingListeners = new Set<() => void>();
  #wasShared = false;
  #epoch = '';
  #version = 0;
  readonly #counters: Counters;
  readonly #windows: WindowLimits;
  readonly #holds = new Holds();
  #members: Pull['members'] = [];
  #exchange: Promise<void> | undefined;
  #again: Promise<void> | undefined;
  #isSilent = false;
  /** Why the last exchange failed; empty: it didn't. */
  #problem = '';
  #clockOffMs = 0;
  #seconds = 0;
  /** The store grants no member a lease for a moment. */
  #isFresh = false;
  /** Members of which this one takes a share while there are no leases. */
  #parts: number;
  #leaves = false;
  /** When the last exchange that was answered was begun, or later if its answer was late. */
  #heardMs: number | undefined;
  #startedMs: number | undefined;
  /** When the last exchange was begun. */
  #exchangedMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#parts = options.expected ?? 1;
    this.#counters = new Counters(options.nowMs);
    this.#facts = new SharedFacts(options.nowMs);
    this.#windows = new WindowLimits({
      nowMs: options.nowMs,
      waitMs: options.waitMs ?? defaultWaitMs,
      ask: () => void this.#flush(false),
      view: {
        isSilent: () => this.#isSilent,
        isFresh: () => this.#isFresh,
        parts: () => this.#parts,
        aloneInMs: (nowMs) => this.#aloneInMs(nowMs),
        alone: (share, open) => this.#alone(share, open),
      },
    });
  }

  /** Exchanges at each tick from now on. */
  start(): void {
    this.#startedMs ??= this.#options.nowMs();
    this.#timer ??= setInterval(() => {
      if (this.#hasWork) void this.tick();
    }, tickMs).unref();
  }

  /** Stops exchanging, after a last exchange. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#leaves = true;
    this.#windows.giveUp();
    if (this.#hasWork) await this.tick();
  }

  /** Calls `listener` when a first other member is there to share with. */
  onShared(listener: () => void): void {
    this.#sharingListeners.add(listener);
  }

  /** Exchanges with the store now. Never rejects. */
  tick(): Promise<void> {
    const { isShared } = this;
    if (isShared && !this.#wasShared) for (const listener of this.#sharingListeners) listener();
    this.#wasShared = isShared;
    return this.#flush(true);
  }

  /** Publishes a fact with a time to live. A fact that is too long for a message is left out. */
  publish(fact: Fact): void {
    this.#facts.publish(fact);
  }

  /** Calls `listener` with each fact that another member publishes. */
  onFact(listener: (fact: Fact) => void): void {
    this.#facts.listen(listener);
  }

  /** Adds a whole number to a counter of all members. */
  add(id: string, by: number): void {
    this.#counters.add(id, by);
  }

  /** A counter of all members: at the last word, with what was added here since. The first call begins to watch it. */
  total(id: string): number {
    return this.#counters.total(id);
  }

  /** Waits until the store has said what these counters are; `undefined`: it has, or it is silent. */
  heard(ids: readonly string[]): Promise<void> | undefined {
    return this.#counters.areKnown(ids) || this.#isSilent ? undefined : this.tick();
  }

  /** `restate` gives what this member has added to counters in all, for a store that has lost everything. */
  onLoss(restate: Counters['restate']): void {
    this.#counters.restate = restate;
  }

  /**
   * Admits `count` if all members together stay within the limit; `undefined`: they don't. Known at once unless a lease has to be
   * asked for. If the store is silent, this member's share of the limit decides, as soon as the store must have noticed that.
   */
  admit(id: string, limit: WindowLimit, count = 1): Admission | undefined | Promise<Admission | undefined> {
    return this.#windows.admit(id, limit, count);
  }

  /** Counts `by` more, or fewer, than were admitted of a limit. */
  correct(id: string, limit: WindowLimit, admission: Admission, by: number): void {
    this.#windows.correct(id, limit, admission, by);
  }

  /** What all members have used of a limit, as far as this one knows; `undefined` if the store hasn't said. */
  usage(id: string, limit: WindowLimit): WindowUse | undefined {
    return this.#windows.usage(id, limit);
  }

  /**
   * Takes one of a limit of so many at a time, to be given back by `release`. Known at once while this member holds more than it
   * uses. If the store is silent, this member's share of the limit decides.
   */
  acquire(id: string, max: number): boolean | Promise<boolean> {
    const held = this.#holds.acquire(id, max);
    if (held instanceof Promise) void this.#flush(false);
    return held;
  }

  /** Gives one back that was acquired. */
  release(id: string): void {
    if (this.#holds.release(id)) void this.#flush(false);
  }

  /** How many of a limit at a time no member uses, as far as this one knows. */
  unused(id: string): number | undefined {
    return this.#holds.unused(id);
  }

  /**
   * Claims what one member has at a time, for at most `forMs`. Resolves with its release, or with `undefined` while another member
   * has it. Returns `undefined` if there is no store to ask; if it stops answering, each member has the claim.
   */
  claim(id: string, forMs: number): Promise<(() => void) | undefined> | undefined {
    return this.isShared && this.figures.isUp ? this.#claim(id, forMs) : undefined;
  }

  async #claim(id: string, forMs: number): Promise<(() => void) | undefined> {
    const isHeld = await this.acquire(id, 1);
    if (isHeld && this.#isSilent) this.release(id);
    if (this.#isSilent) return () => undefined;
    if (!isHeld) return undefined;
    let isReleased = false;
    const release = (): void => {
      clearTimeout(timer);
      if (!isReleased) this.release(id);
      isReleased = true;
    };
    const timer = setTimeout(release, forMs).unref();
    return release;
  }

  /** Keeps a sealed value for all members; sent at once. Too long a one is left out. */
  putBlob(name: string, value: string, forMs: number): void {
    if (value.length <= maxBlob && name.length <= maxId) this.#options.store.putBlob({ name, value, forMs });
  }

  /**
   * Reads sealed values, in the order of their names; `null` for unknown ones. `undefined` if the store doesn't answer. `late` gets
   * the values again if more of them arrive after that.
   */
  async readBlobs(
    names: readonly string[],
    late: (values: BlobValues) => void = () => undefined,
  ): Promise<BlobValues | undefined> {
    const valuesOf = (values: BlobValues): BlobValues => names.map((_, index) => values[index] ?? null);
    const reading = this.#options.store.readBlobs(names.slice(0, maxNames), (values) => late(valuesOf(values)));
    const values = await within(exchangeMs, reading);
    return values && valuesOf(values);
  }

  /** Whether the store answers, how long that took, how many members there are, and how limits were decided. */
  get figures() {
    return {
      isUp: this.#heardMs !== undefined && !this.#isSilent,
      /** Why it doesn't answer; empty if it does. */
      problem: this.#problem,
      /** How far this machine's clock is ahead of the store's. */
      clockOffSeconds: this.#clockOffMs / 1_000,
      seconds: this.#seconds,
      members: this.#members.length,
      /** Blocks of limits that were granted. */
      leases: this.#windows.granted,
      /** Requests that were admitted without one. */
      byShare: this.#windows.byShare,
    };
  }

  /** All members at the last word, this one included. */
  get members(): Pull['members'] {
    return this.#members;
  }

  /** Whether there is another member to share with. */
  get isShared(): boolean {
    return this.#options.isShared?.() ?? true;
  }

  get #hasWork(): boolean {
    return this.isShared || !this.#holds.isEmpty || this.#windows.isAwaited;
  }

  /** When this member may go on by its share: the store has noticed then that it is missing, and keeps that from the others. */
  #aloneInMs(nowMs: number): number {
    if (this.#heardMs !== undefined) return this.#heardMs + exchangeMs - nowMs;
    // The first answer may be slow: a connection is made, and code is compiled.
    return this.#startedMs === undefined ? 0 : this.#startedMs + firstAnswerMs - nowMs;
  }

  /** What limits grant while there are no leases. */
  #alone<T>(share: () => T, open: T): T | undefined {
    const { alone = 'share' } = this.#options;
    if (alone === 'refuse') return undefined;
    return alone === 'share' ? share() : open;
  }

  /** One exchange at a time: calls that come meanwhile share the next one. */
  #flush(isTick: boolean): Promise<void> {
    if (!this.#exchange) {
      const spacing = isTick ? undefined : this.#spacing();
      const exchanged = spacing ? spacing.then(() => this.#exchangeOnce(false)) : this.#exchangeOnce(isTick);
      this.#exchange = exchanged.finally(() => {
        this.#exchange = undefined;
      });
      return this.#exchange;
    }
    this.#again ??= this.#exchange.then(() => {
      this.#again = undefined;
      return this.#flush(isTick);
    });
    return this.#again;
  }

  /** Waits until the next exchange may begin; `undefined`: it may now. So their number doesn't grow with that of requests. */
  #spacing(): Promise<void> | undefined {
    const { spacingMs = 0, nowMs } = this.#options;
    const waitMs = (this.#exchangedMs ?? Number.NEGATIVE_INFINITY) + spacingMs - nowMs();
    return waitMs > 0 ? new Promise((resolve) => setTimeout(resolve, waitMs)) : undefined;
  }

  async #exchangeOnce(isTick: boolean): Promise<void> {
    const { store, nowMs } = this.#options;
    const { windows, asked } = this.#windows.asks(isTick);
    const asking = this.#holds.ask(this.#parts);
    const begunMs = nowMs();
    this.#exchangedMs = begunMs;
    const { facts, sent } = this.#facts.compose();
    const push = this.#compose({ facts, windows, holds: asking.holds });
    let problem = `it does not answer within ${exchangeMs} ms`;
    const exchanged = store.exchange(push).catch((error: unknown) => {
      if (error instanceof Error) problem = error.message;
      throw error;
    });
    const pull = await within(exchangeMs, exchanged);
    this.#problem = pull ? '' : problem;
    this.#setSilent(pull === undefined);
    if (!pull) {
      this.#holds.lost(asking.waiting, (lease) => this.#takeHoldShare(lease));
      this.#windows.failed(asked);
      return;
    }
    // The store may have seen this member as late as its answer came, and misses it that much later.
    this.#heardMs = Math.max(begunMs, nowMs() - seenWithinMs);
    this.#seconds = (nowMs() - begunMs) / 1_000;
    sent();
    if (this.#epoch !== '' && this.#epoch !== pull.epoch) this.#startOver();
    this.#epoch = pull.epoch;
    this.#version = pull.version;
    this.#members = pull.members;
    this.#clockOffMs = pull.clockOffMs ?? 0;
    this.#isFresh = pull.isFresh ?? false;
    // After a loss, not all members have been heard of yet.
    this.#parts = Math.max(1, this.#isFresh ? this.#parts : 0, pull.members.length);
    this.#counters.heard(pull);
    this.#windows.answered(pull.windows, asked);
    this.#holds.granted(pull.holds, asking.waiting);
    this.#facts.heard(pull.facts);
    this.#options.onAnswer?.();
  }

  #compose(parts: Pick<Push, 'facts' | 'windows' | 'holds'>): Push {
    const { member, about } = this.#options;
    return {
      member,
      about: about?.() ?? '',
      epoch: this.#epoch,
      version: this.#version,
      ...this.#counters.compose(),
      ...(this.#leaves && { leaves: true }),
      ...parts,
    };
  }

  #takeHoldShare(lease: HoldLease): boolean {
    if (this.#options.alone === 'open') lease.takeOver();
    return this.#alone(() => lease.takeShare(this.#parts), true) ?? false;
  }

  /** The store has lost everything: it is told anew what holds. */
  #startOver(): void {
    this.#facts.lost();
    // The others get leases a while after the loss, whether or not this member has been heard.
    if (this.#windows.lost()) void this.#flush(false);
    this.#counters.lost();
  }

  #setSilent(isSilent: boolean): void {
    if (this.#isSilent === isSilent) return;
    this.#isSilent = isSilent;
    this.#options.onSilence?.(isSilent, this.#problem);
  }
}
