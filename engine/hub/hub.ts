import { within } from '../runtime/within.ts';
import type { ConcurrencyLease } from './concurrency-lease.ts';
import { ConcurrencyLimits } from './concurrency-limits.ts';
import {
  type BlobValues,
  type Entry,
  type HubStore,
  maxBlob,
  maxId,
  maxNames,
  type Pull,
  type Push,
} from './contract.ts';
import { Counters } from './counters.ts';
import { SharedEntries } from './shared-entries.ts';
import type { Admission, WindowLimit, WindowUse } from './window-lease.ts';
import { WindowLimits } from './window-limits.ts';

/** Interval between exchanges, in milliseconds. */
const tickMs = 200;
/** Deadline of an exchange, in milliseconds, after which the store counts as silent. Longer than the store's `staleMs`. */
export const exchangeMs = 500;
/** Longest delay after which the store sees an exchange, in milliseconds, so that it notices a missing member in time. */
const seenWithinMs = 100;
/**
 * How long a request waits for a decision near a limit, in milliseconds: usually for one exchange, at most for the current one and
 * the next, which carries its request.
 */
const defaultWaitMs = 2 * exchangeMs + 50;
/** Wait for the store's first answer before a new member continues with its share, in milliseconds. */
const firstAnswerMs = 1_000;

/** Options of a member. */
interface HubOptions {
  readonly store: HubStore;
  /** Unique among all members, past ones included. */
  readonly member: string;
  /** This member's description, for the others. */
  readonly about?: () => string;
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Whether other members exist; without any, no message is sent. */
  readonly isShared?: () => boolean;
  /** Time limit of a request that waits for the store, in milliseconds. */
  readonly waitMs?: number;
  /** Shortest time between two exchanges that requests cause, in milliseconds; absent: none. Ticks come in addition. */
  readonly spacingMs?: number;
  /** Called when the store stops answering, and when it answers again. */
  readonly onSilence?: (isSilent: boolean, problem: string) => void;
  /** Called after each answer of the store. */
  readonly onAnswer?: () => void;
  /** Number of members to assume before the store's first answer. */
  readonly expected?: number;
  /** Policy of limits while the store grants no leases; absent: each member continues with its share. */
  readonly alone?: 'share' | 'refuse' | 'open';
}

/**
 * A member's view of the shared state. All decisions are local; each tick exchanges changes with the store. If it doesn't answer, the
 * member continues alone.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #entries: SharedEntries;
  readonly #sharingListeners = new Set<() => void>();
  #wasShared = false;
  #epoch = '';
  #version = 0;
  readonly #counters: Counters;
  readonly #windows: WindowLimits;
  readonly #concurrency = new ConcurrencyLimits();
  #members: Pull['members'] = [];
  #exchange: Promise<void> | undefined;
  #again: Promise<void> | undefined;
  #isSilent = false;
  /** Why the last exchange failed; empty if it succeeded. */
  #problem = '';
  #clockOffMs = 0;
  #seconds = 0;
  /** The store was emptied, and grants no leases yet. */
  #isFresh = false;
  /** Number of members among which limits are divided while there are no leases. */
  #parts: number;
  #leaves = false;
  /** Start of the last exchange with an answer, or later if the answer was late. */
  #answeredMs: number | undefined;
  #startedMs: number | undefined;
  /** Start of the last exchange. */
  #exchangedMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#parts = options.expected ?? 1;
    this.#counters = new Counters(options.nowMs);
    this.#entries = new SharedEntries(options.nowMs);
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

  /** Stops exchanging, after a final exchange. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#leaves = true;
    this.#windows.giveUp();
    if (this.#hasWork) await this.tick();
  }

  /** Calls `listener` when the first other member appears. */
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

  /** Publishes an entry with a time to live. An entry that is too long for a message is left out. */
  publish(entry: Entry): void {
    this.#entries.publish(entry);
  }

  /** Calls `listener` with each entry that another member publishes. */
  onEntry(listener: (entry: Entry) => void): void {
    this.#entries.listen(listener);
  }

  /** Adds a whole number to a counter of all members. */
  add(id: string, by: number): void {
    this.#counters.add(id, by);
  }

  /** A shared counter as of the last exchange, plus what was added here since. The first call starts watching it. */
  total(id: string): number {
    return this.#counters.total(id);
  }

  /** Waits for the totals of these counters; `undefined`: they are known, or the store is silent. */
  whenKnown(ids: readonly string[]): Promise<void> | undefined {
    return this.#counters.areKnown(ids) || this.#isSilent ? undefined : this.tick();
  }

  /** `restate` returns all that this member has added to counters, for a store that was emptied. */
  onLoss(restate: Counters['restate']): void {
    this.#counters.restate = restate;
  }

  /**
   * Admits `count` if all members together stay within the limit; `undefined`: they don't. Decided at once unless a lease has to be
   * requested. If the store is silent, this member's share decides, once the store must have noticed the silence.
   */
  admit(id: string, limit: WindowLimit, count = 1): Admission | undefined | Promise<Admission | undefined> {
    return this.#windows.admit(id, limit, count);
  }

  /** Corrects what was counted of a limit by `by`, which may be negative. */
  correct(id: string, limit: WindowLimit, admission: Admission, by: number): void {
    this.#windows.correct(id, limit, admission, by);
  }

  /** All members' use of a limit, as of the last exchange; `undefined` before the store's first answer. */
  usage(id: string, limit: WindowLimit): WindowUse | undefined {
    return this.#windows.usage(id, limit);
  }

  /**
   * Takes a unit of a concurrency limit, until `release`. Decided at once while this member has a unit in reserve. If the store is
   * silent, this member's share decides.
   */
  acquire(id: string, max: number): boolean | Promise<boolean> {
    const held = this.#concurrency.acquire(id, max);
    if (held instanceof Promise) void this.#flush(false);
    return held;
  }

  /** Returns a unit that was acquired. */
  release(id: string): void {
    if (this.#concurrency.release(id)) void this.#flush(false);
  }

  /** Units of a concurrency limit that no member uses, as of the last exchange. */
  unused(id: string): number | undefined {
    return this.#concurrency.unused(id);
  }

  /**
   * Claims an id that one member has at a time, for at most `forMs`. Resolves with its release, or with `undefined` while another member
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

  /** Stores a sealed value for all members; sent at once. A value that is too long is left out. */
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

  /** The state of the store, and how limits were decided. */
  get figures() {
    return {
      isUp: this.#answeredMs !== undefined && !this.#isSilent,
      /** Why it doesn't answer; empty if it does. */
      problem: this.#problem,
      /** This machine's clock ahead of the store's. */
      clockOffSeconds: this.#clockOffMs / 1_000,
      seconds: this.#seconds,
      members: this.#members.length,
      /** Number of granted blocks. */
      leases: this.#windows.granted,
      /** Requests that were admitted without a lease. */
      byShare: this.#windows.byShare,
    };
  }

  /** All members as of the last exchange, this one included. */
  get members(): Pull['members'] {
    return this.#members;
  }

  /** Whether other members exist. */
  get isShared(): boolean {
    return this.#options.isShared?.() ?? true;
  }

  get #hasWork(): boolean {
    return this.isShared || !this.#concurrency.isEmpty || this.#windows.isAwaited;
  }

  /** Time until this member may use its share: the store has noticed its absence then, and withholds that share from the others. */
  #aloneInMs(nowMs: number): number {
    if (this.#answeredMs !== undefined) return this.#answeredMs + exchangeMs - nowMs;
    // The first answer may be slow: a connection is made, and code is compiled.
    return this.#startedMs === undefined ? 0 : this.#startedMs + firstAnswerMs - nowMs;
  }

  /** Decides a limit while there are no leases. */
  #alone<T>(share: () => T, open: T): T | undefined {
    const { alone = 'share' } = this.#options;
    if (alone === 'refuse') return undefined;
    return alone === 'share' ? share() : open;
  }

  /** One exchange at a time: calls during it share the next one. */
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

  /** Waits until the next exchange may start; `undefined`: it may now. Bounds the exchanges per second. */
  #spacing(): Promise<void> | undefined {
    const { spacingMs = 0, nowMs } = this.#options;
    const waitMs = (this.#exchangedMs ?? Number.NEGATIVE_INFINITY) + spacingMs - nowMs();
    return waitMs > 0 ? new Promise((resolve) => setTimeout(resolve, waitMs)) : undefined;
  }

  async #exchangeOnce(isTick: boolean): Promise<void> {
    const { store, nowMs } = this.#options;
    const { windows, asked } = this.#windows.asks(isTick);
    const asking = this.#concurrency.ask(this.#parts);
    const startedMs = nowMs();
    this.#exchangedMs = startedMs;
    const { facts, sent } = this.#entries.compose();
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
      this.#concurrency.lost(asking.waiting, (lease) => this.#takeShare(lease));
      this.#windows.failed(asked);
      return;
    }
    // The store may have seen this member only when it answered, and notices its absence that much later.
    this.#answeredMs = Math.max(startedMs, nowMs() - seenWithinMs);
    this.#seconds = (nowMs() - startedMs) / 1_000;
    sent();
    if (this.#epoch !== '' && this.#epoch !== pull.epoch) this.#startOver();
    this.#epoch = pull.epoch;
    this.#version = pull.version;
    this.#members = pull.members;
    this.#clockOffMs = pull.clockOffMs ?? 0;
    this.#isFresh = pull.isFresh ?? false;
    // An emptied store doesn't know all members yet.
    this.#parts = Math.max(1, this.#isFresh ? this.#parts : 0, pull.members.length);
    this.#counters.receive(pull);
    this.#windows.answered(pull.windows, asked);
    this.#concurrency.granted(pull.holds, asking.waiting);
    this.#entries.receive(pull.facts);
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

  #takeShare(lease: ConcurrencyLease): boolean {
    if (this.#options.alone === 'open') lease.takeOver();
    return this.#alone(() => lease.takeShare(this.#parts), true) ?? false;
  }

  /** The store was emptied: everything is published again. */
  #startOver(): void {
    this.#entries.lost();
    // The others get leases soon after the loss, whether or not this member has reported.
    if (this.#windows.lost()) void this.#flush(false);
    this.#counters.lost();
  }

  #setSilent(isSilent: boolean): void {
    if (this.#isSilent === isSilent) return;
    this.#isSilent = isSilent;
    this.#options.onSilence?.(isSilent, this.#problem);
  }
}
