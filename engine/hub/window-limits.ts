import { LRUCache } from 'lru-cache';
import { maxPerMessage, type Pull, type WindowRequest } from './contract.ts';
import { type Admission, WindowLease, type WindowLimit, type WindowUse } from './window-lease.ts';

/** Maximum by which a timer fires early, in milliseconds. */
const earlyMs = 1;

const maxLimits = 10_000;
const maxWaiting = 10_000;

/** The state of the store, as limits need it. */
interface StoreView {
  readonly isSilent: () => boolean;
  /** The store was emptied, and grants no leases yet. */
  readonly isFresh: () => boolean;
  /** Number of members among which limits are divided while there are no leases. */
  readonly parts: () => number;
  /** Time until this member may use its share, in milliseconds. */
  readonly aloneInMs: (nowMs: number) => number;
  /** The decision while there are no leases: `share`, `open`, or none. */
  readonly alone: <T>(share: () => T, open: T) => T | undefined;
}

interface WindowLimitsOptions {
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Time limit of a request that waits for the store, in milliseconds. */
  readonly waitMs: number;
  readonly view: StoreView;
  /** Exchanges with the store soon. */
  readonly ask: () => void;
}

interface Waiting {
  readonly lease: WindowLease;
  readonly count: number;
  readonly settle: (admitted: Admission | undefined) => void;
}

/** The leases of one push, by id. */
type Asked = ReadonlyMap<string, WindowLease>;

/** A member's parts of rate limits. */
export class WindowLimits {
  readonly #options: WindowLimitsOptions;
  readonly #leases = new LRUCache<string, WindowLease>({ max: maxLimits });
  #waiting: Waiting[] = [];
  /** Number of granted blocks. */
  granted = 0;
  /** Requests that were admitted without a lease. */
  byShare = 0;

  constructor(options: WindowLimitsOptions) {
    this.#options = options;
  }

  /** Whether requests wait for the store. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /**
   * Admits `count` if all members together stay within the limit; `undefined`: they don't. Decided at once unless a lease has to be
   * requested. If the store is silent, this member's share decides, once the store must have noticed the silence.
   */
  admit(id: string, limit: WindowLimit, count: number): Admission | undefined | Promise<Admission | undefined> {
    const { view, waitMs, ask } = this.#options;
    const lease = this.#leaseOf(id, limit);
    const nowMs = this.#options.nowMs();
    const taken = lease.take(nowMs, count);
    if (taken) return taken;
    if (lease.isUsedUp(nowMs) || this.#waiting.length >= maxWaiting) return undefined;
    if (view.isFresh() && !view.isSilent()) return this.#takeShare(lease, nowMs, count);
    const aloneInMs = view.isSilent() ? view.aloneInMs(nowMs) : waitMs;
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
        // Silent or just slow: an answer would have granted or refused.
        resolve(view.aloneInMs(endMs) <= earlyMs ? this.#takeShare(lease, endMs, count) : undefined);
      };
      // After a long task the grant may be there, unread: it is read before the immediate runs.
      const timer = setTimeout(() => setImmediate(end), Math.min(waitMs, Math.ceil(aloneInMs)));
      this.#waiting.push(waiting);
      ask();
    });
  }

  /** Corrects what was counted of a limit by `by`, which may be negative. */
  correct(id: string, limit: WindowLimit, admission: Admission, by: number): void {
    if (by !== 0) this.#leaseOf(id, limit).correct(this.#options.nowMs(), admission, by);
  }

  /** All members' use of a limit, as of the last exchange; `undefined` before the store's first answer. */
  usage(id: string, limit: WindowLimit): WindowUse | undefined {
    return this.#leases.get(nameOf(id, limit))?.use(this.#options.nowMs());
  }

  /** The limits' part of the next push. */
  asks(isTick: boolean): { readonly windows: WindowRequest[]; readonly asked: Asked } {
    const nowMs = this.#options.nowMs();
    const waiting = new Map<WindowLease, number>();
    for (const { lease, count } of this.#waiting) waiting.set(lease, (waiting.get(lease) ?? 0) + count);
    const windows: WindowRequest[] = [];
    const asked = new Map<string, WindowLease>();
    for (const [name, lease] of this.#leases) {
      if (windows.length >= maxPerMessage) break;
      const ask = lease.ask(nowMs, waiting.get(lease) ?? 0, isTick);
      if (ask && !asked.has(ask.id)) {
        windows.push(ask);
        asked.set(ask.id, lease);
      } else if (ask) lease.failed();
      else if (!ask) this.#leases.delete(name);
    }
    return { windows, asked };
  }

  /** Takes the store's answer. */
  answered(grants: Pull['windows'], asked: Asked): void {
    const { view, nowMs } = this.#options;
    for (const grant of grants) {
      if (grant.granted > 0) this.granted += 1;
      asked.get(grant.id)?.grant(grant, view.parts(), nowMs(), view.isFresh());
    }
    if (view.isFresh()) this.#settleAlone();
    else this.#settleWaiting();
  }

  /** The store doesn't answer. */
  failed(asked: Asked): void {
    for (const lease of asked.values()) lease.failed();
    this.#settleAlone();
  }

  /** The store was emptied. Returns whether there is anything to report. */
  lost(): boolean {
    for (const lease of this.#leases.values()) lease.lost();
    return this.#leases.size > 0;
  }

  /** Returns all unused blocks. */
  giveUp(): void {
    for (const lease of this.#leases.values()) lease.giveUp();
  }

  #leaseOf(id: string, limit: WindowLimit): WindowLease {
    const name = nameOf(id, limit);
    const lease = this.#leases.get(name) ?? new WindowLease(id, limit);
    this.#leases.set(name, lease);
    return lease;
  }

  #takeShare(lease: WindowLease, nowMs: number, count: number): Admission | undefined {
    const { alone, parts } = this.#options.view;
    const admission = alone(() => lease.takeShare(nowMs, parts(), count), { slot: undefined });
    if (admission) this.byShare += 1;
    return admission;
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
    if (still.length > 0) setImmediate(this.#options.ask);
  }

  /** Settles waiting requests by this member's share, once the store must have noticed the silence. */
  #settleAlone(): void {
    const { view, nowMs } = this.#options;
    if (!(view.isSilent() || view.isFresh()) || this.#waiting.length === 0) return;
    const now = nowMs();
    const inMs = view.isFresh() ? 0 : view.aloneInMs(now);
    if (inMs > 0) setTimeout(() => this.#settleAlone(), Math.ceil(inMs));
    else for (const { lease, count, settle } of this.#waiting.splice(0)) settle(this.#takeShare(lease, now, count));
  }
}

/** A limit with other values is another lease. */
const nameOf = (id: string, { max, windowMs }: WindowLimit): string => `${max} ${windowMs} ${id}`;
