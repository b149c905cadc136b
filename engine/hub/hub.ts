import { LRUCache } from 'lru-cache';
import { within } from '../time/within.ts';
import {
  type BlobValues,
  type Fact,
  type HubStore,
  maxBlob,
  maxFact,
  maxId,
  maxNames,
  maxPerMessage,
  type Pull,
  type Push,
  type WindowAsk,
} from './contract.ts';
import { Counters } from './counters.ts';
import { FactBook, type KnownFact } from './facts.ts';
import type { HoldLease } from './hold-lease.ts';
import { Holds } from './holds.ts';
import { type Admission, WindowLease, type WindowLimit, type WindowUse } from './window-lease.ts';

/** How often members exchange, in milliseconds. */
const tickMs = 200;
/** How often one that waits to hold something asks, in milliseconds. */
const askAgainMs = 25;
/** A store that takes longer for an exchange, in milliseconds, counts as silent. Longer than the store's `staleMs`. */
export const exchangeMs = 500;
/**
 * How long a request waits for a decision near a limit, in milliseconds: usually for one answer, at most for the exchange that is
 * under way and the next one, which asks for it.
 */
const defaultWaitMs = 2 * exchangeMs + 50;
/** How long after its start a member waits for the store's first answer before it goes on by its share, in milliseconds. */
const firstAnswerMs = 1_000;
/** A timer may fire so many milliseconds before its time. */
const earlyMs = 1;

const maxFacts = 10_000;
const maxLimits = 10_000;
const maxWaiting = 10_000;

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

interface Waiting {
  readonly lease: WindowLease;
  readonly count: number;
  readonly settle: (admitted: Admission | undefined) => void;
}

/**
 * A member's view of what all members share. All decisions are local; the store is told, and asked, at each tick. If it doesn't
 * answer, the member goes on by itself.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #facts = new FactBook<KnownFact>(maxFacts);
  /** Facts that the store doesn't know yet. */
  readonly #unpublished = new Map<string, KnownFact>();
  readonly #listeners = new Set<(fact: Fact) => void>();
  readonly #sharingListeners = new Set<() => void>();
  #wasShared = false;
  #epoch = '';
  #version = 0;
  readonly #counters: Counters;
  readonly #windows = new LRUCache<string, WindowLease>({ max: maxLimits });
  #waiting: Waiting[] = [];
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
  #leases = 0;
  #byShare = 0;
  #leaves = false;
  /** When the last exchange that was answered was begun. */
  #heardMs: number | undefined;
  #startedMs: number | undefined;
  /** When the last exchange was begun. */
  #exchangedMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#parts = options.expected ?? 1;
    this.#counters = new Counters(options.nowMs);
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
    for (const lease of this.#windows.values()) lease.giveUp();
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

  /** Says that something holds for so long. A fact that is too long for a message is left out. */
  publish({ id, value, forMs }: Fact): void {
    if (id.length > maxId || value.length > maxFact) return;
    const nowMs = this.#options.nowMs();
    const fact = { id, value, expiresMs: nowMs + forMs };
    if (!this.#facts.put(fact, nowMs)) return;
    if (this.#unpublished.size < maxFacts || this.#unpublished.has(id)) this.#unpublished.set(id, fact);
  }

  /** What holds by this id. */
  fact(id: string): Fact | undefined {
    const nowMs = this.#options.nowMs();
    const known = this.#facts.get(id, nowMs);
    return known && { id, value: known.value, forMs: known.expiresMs - nowMs };
  }

  /** Calls `listener` with each fact that another member says. */
  onFact(listener: (fact: Fact) => void): void {
    this.#listeners.add(listener);
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
    const lease = this.#leaseOf(id, limit);
    const nowMs = this.#options.nowMs();
    const taken = lease.take(nowMs, count);
    if (taken) return taken;
    if (lease.isUsedUp(nowMs) || this.#waiting.length >= maxWaiting) return undefined;
    if (this.#isFresh && !this.#isSilent) return this.#takeShare(lease, nowMs, count);
    const aloneInMs = this.#isSilent ? this.#aloneInMs(nowMs) : this.#waitMs;
    if (aloneInMs <= 0) return this.#takeShare(lease, nowMs, count);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        lease,
        count,
        settle: (admitted) => {
          clearTimeout(timer);
          resolve(admitted);
        },
      };
      const end = (): void => {
        if (!this.#waiting.includes(waiting)) return;
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        const endMs = this.#options.nowMs();
        // Whether the store is known to be silent or just slow: no answer has come, which would have granted or refused.
        resolve(this.#aloneInMs(endMs) <= earlyMs ? this.#takeShare(lease, endMs, count) : undefined);
      };
      // After a long task the grant may be there, unread: it is read before the immediate runs.
      const timer = setTimeout(() => setImmediate(end), Math.min(this.#waitMs, Math.ceil(aloneInMs)));
      this.#waiting.push(waiting);
      void this.#flush(false);
    });
  }

  /** Counts `by` more, or fewer, than were admitted of a limit. */
  correct(id: string, limit: WindowLimit, admission: Admission, by: number): void {
    if (by !== 0) this.#leaseOf(id, limit).correct(this.#options.nowMs(), admission, by);
  }

  /** What all members have used of a limit, as far as this one knows; `undefined` if the store hasn't said. */
  usage(id: string, limit: WindowLimit): WindowUse | undefined {
    return this.#windows.get(nameOf(id, limit))?.use(this.#options.nowMs());
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
   * Waits until this member may hold one of a limit of so many at a time. Returns its release; `undefined` if it has none within
   * `forMs`, or the store is silent.
   */
  async hold(id: string, max: number, forMs: number): Promise<(() => void) | undefined> {
    const untilMs = this.#options.nowMs() + forMs;
    for (;;) {
      const isHeld = await this.acquire(id, max);
      if (isHeld && !this.#isSilent) return () => this.release(id);
      if (isHeld) this.release(id);
      const leftMs = untilMs - this.#options.nowMs();
      if (leftMs <= 0) return undefined;
      await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs, askAgainMs)));
    }
  }

  /** Keeps a sealed value for all members; sent at once. Too long a one is left out. */
  putBlob(name: string, value: string, forMs: number): void {
    if (value.length <= maxBlob && name.length <= maxId) this.#options.store.putBlob({ name, value, forMs });
  }

  /** Reads sealed values, in the order of their names; `null` for unknown ones. `undefined` if the store doesn't answer. */
  async readBlobs(names: readonly string[]): Promise<BlobValues | undefined> {
    const values = await within(exchangeMs, this.#options.store.readBlobs(names.slice(0, maxNames)));
    return values && names.map((_, index) => values[index] ?? null);
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
      leases: this.#leases,
      /** Requests that were admitted without one. */
      byShare: this.#byShare,
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

  get #waitMs(): number {
    return this.#options.waitMs ?? defaultWaitMs;
  }

  get #hasWork(): boolean {
    return this.isShared || !this.#holds.isEmpty || this.#waiting.length > 0;
  }

  /** When this member may go on by its share: the store has noticed then that it is missing, and keeps that from the others. */
  #aloneInMs(nowMs: number): number {
    if (this.#heardMs !== undefined) return this.#heardMs + exchangeMs - nowMs;
    // The first answer may be slow: a connection is made, and code is compiled.
    return this.#startedMs === undefined ? 0 : this.#startedMs + firstAnswerMs - nowMs;
  }

  #takeShare(lease: WindowLease, nowMs: number, count: number): Admission | undefined {
    const admission = this.#alone(() => lease.takeShare(nowMs, this.#parts, count), { slot: undefined });
    if (admission) this.#byShare += 1;
    return admission;
  }

  /** What limits grant while there are no leases. */
  #alone<T>(share: () => T, open: T): T | undefined {
    const { alone = 'share' } = this.#options;
    if (alone === 'refuse') return undefined;
    return alone === 'share' ? share() : open;
  }

  #leaseOf(id: string, limit: WindowLimit): WindowLease {
    const name = nameOf(id, limit);
    const lease = this.#windows.get(name) ?? new WindowLease(id, limit);
    this.#windows.set(name, lease);
    return lease;
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
    const asked = new Map<string, WindowLease>();
    const asking = this.#holds.ask(this.#parts);
    const begunMs = nowMs();
    this.#exchangedMs = begunMs;
    const push = this.#compose(isTick, asked, asking.holds);
    const said = [...this.#unpublished.values()].slice(0, push.facts.length);
    let problem = `it does not answer within ${exchangeMs} ms`;
    const exchanged = store.exchange(push).catch((error: unknown) => {
      if (error instanceof Error) problem = error.message;
      throw error;
    });
    const pull = await within(exchangeMs, exchanged);
    this.#problem = pull ? '' : problem;
    this.#setSilent(pull === undefined);
    if (!pull) {
      for (const lease of asked.values()) lease.failed();
      this.#holds.lost(asking.waiting, (lease) => this.#takeHoldShare(lease));
      this.#settleAlone();
      return;
    }
    this.#heardMs = begunMs;
    this.#seconds = (nowMs() - begunMs) / 1_000;
    for (const fact of said) if (this.#unpublished.get(fact.id) === fact) this.#unpublished.delete(fact.id);
    if (this.#epoch !== '' && this.#epoch !== pull.epoch) this.#startOver(nowMs());
    this.#epoch = pull.epoch;
    this.#version = pull.version;
    this.#members = pull.members;
    this.#clockOffMs = pull.clockOffMs ?? 0;
    this.#isFresh = pull.isFresh ?? false;
    // After a loss, not all members have been heard of yet.
    this.#parts = Math.max(1, this.#isFresh ? this.#parts : 0, pull.members.length);
    this.#counters.heard(pull);
    for (const grant of pull.windows) {
      if (grant.granted > 0) this.#leases += 1;
      asked.get(grant.id)?.grant(grant, this.#parts, nowMs(), this.#isFresh);
    }
    if (this.#isFresh) this.#settleAlone();
    else this.#settleWaiting();
    this.#holds.granted(pull.holds, asking.waiting);
    this.#hear(pull.facts, nowMs());
    this.#options.onAnswer?.();
  }

  #compose(isTick: boolean, asked: Map<string, WindowLease>, holds: Push['holds']): Push {
    const { member, about, nowMs } = this.#options;
    const now = nowMs();
    for (const [id, { expiresMs }] of this.#unpublished) if (expiresMs <= now) this.#unpublished.delete(id);
    return {
      member,
      about: about?.() ?? '',
      epoch: this.#epoch,
      version: this.#version,
      facts: [...this.#unpublished.values()]
        .slice(0, maxPerMessage)
        .map(({ id, value, expiresMs }) => ({ id, value, forMs: expiresMs - now })),
      ...this.#counters.compose(),
      windows: this.#asks(now, isTick, asked),
      ...(this.#leaves && { leaves: true }),
      holds,
    };
  }

  #asks(nowMs: number, isTick: boolean, asked: Map<string, WindowLease>): WindowAsk[] {
    const waiting = new Map<WindowLease, number>();
    for (const { lease, count } of this.#waiting) waiting.set(lease, (waiting.get(lease) ?? 0) + count);
    const asks: WindowAsk[] = [];
    for (const [name, lease] of this.#windows) {
      if (asks.length >= maxPerMessage) break;
      const ask = lease.ask(nowMs, waiting.get(lease) ?? 0, isTick);
      if (ask && !asked.has(ask.id)) {
        asks.push(ask);
        asked.set(ask.id, lease);
      } else if (ask) lease.failed();
      else if (!ask) this.#windows.delete(name);
    }
    return asks;
  }

  #settleWaiting(): void {
    const nowMs = this.#options.nowMs();
    const still: Waiting[] = [];
    for (const waiting of this.#waiting) {
      const taken = waiting.lease.takeGranted(nowMs, waiting.count);
      if (taken || waiting.lease.isUsedUp(nowMs)) waiting.settle(taken);
      else still.push(waiting);
    }
    this.#waiting = still;
    if (still.length > 0) setImmediate(() => void this.#flush(false));
  }

  #takeHoldShare(lease: HoldLease): boolean {
    if (this.#options.alone === 'open') lease.takeOver();
    return this.#alone(() => lease.takeShare(this.#parts), true) ?? false;
  }

  /** Those that wait go on by this member's share, as soon as they may. */
  #settleAlone(): void {
    if (!(this.#isSilent || this.#isFresh) || this.#waiting.length === 0) return;
    const nowMs = this.#options.nowMs();
    const inMs = this.#isFresh ? 0 : this.#aloneInMs(nowMs);
    if (inMs > 0) setTimeout(() => this.#settleAlone(), Math.ceil(inMs));
    else for (const { lease, count, settle } of this.#waiting.splice(0)) settle(this.#takeShare(lease, nowMs, count));
  }

  #hear(facts: readonly Fact[], nowMs: number): void {
    for (const { id, value, forMs } of facts) {
      if (!this.#facts.put({ id, value, expiresMs: nowMs + forMs }, nowMs)) continue;
      this.#unpublished.delete(id);
      for (const listener of this.#listeners) listener({ id, value, forMs });
    }
  }

  /** The store has lost everything: it is told anew what holds. */
  #startOver(nowMs: number): void {
    for (const fact of this.#facts.live(nowMs)) this.#unpublished.set(fact.id, fact);
    for (const lease of this.#windows.values()) lease.lost();
    // The others get leases a while after the loss, whether or not this member has been heard.
    if (this.#windows.size > 0) void this.#flush(false);
    this.#counters.lost();
  }

  #setSilent(isSilent: boolean): void {
    if (this.#isSilent === isSilent) return;
    this.#isSilent = isSilent;
    this.#options.onSilence?.(isSilent, this.#problem);
  }
}

/** Another limit by the same name is another lease. */
const nameOf = (id: string, { max, windowMs }: WindowLimit): string => `${max} ${windowMs} ${id}`;
