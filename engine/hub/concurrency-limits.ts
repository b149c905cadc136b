import { ConcurrencyLease } from './concurrency-lease.ts';
import { maxPerMessage, type Pull, type Push } from './contract.ts';

const maxWaiting = 10_000;

/** A request that waits for a unit, until the next exchange. */
interface WaitingRequest {
  readonly lease: ConcurrencyLease;
  readonly settle: (held: boolean) => void;
}

/** A member's parts of concurrency limits. */
export class ConcurrencyLimits {
  readonly #leases = new Map<string, ConcurrencyLease>();
  #waiting: WaitingRequest[] = [];

  /** Whether nothing is held or waited for. */
  get isEmpty(): boolean {
    return this.#leases.size === 0;
  }

  /** Takes a unit of `max`. A promise: the next exchange decides. */
  acquire(id: string, max: number): boolean | Promise<boolean> {
    const lease = this.#leases.get(id) ?? new ConcurrencyLease();
    this.#leases.set(id, lease);
    lease.max = max;
    if (lease.take()) return true;
    if (this.#waiting.length >= maxWaiting) return false;
    lease.waiting += 1;
    return new Promise((resolve) => {
      const settle = (held: boolean): void => {
        lease.waiting -= 1;
        resolve(held);
      };
      this.#waiting.push({ lease, settle });
    });
  }

  /** Returns a unit. Whether another member may be waiting for it. */
  release(id: string): boolean {
    const lease = this.#leases.get(id);
    lease?.release();
    return lease?.isScarce ?? false;
  }

  /** Units that no member uses, as of the last exchange. */
  unused(id: string): number | undefined {
    return this.#leases.get(id)?.unused;
  }

  /** The holds' part of the next push, and the requests that wait for its answer. `parts`: number of members. */
  ask(parts: number): { readonly holds: Push['holds']; readonly waiting: readonly WaitingRequest[] } {
    const waiting = this.#waiting.splice(0);
    const holds = [...this.#leases]
      .slice(0, maxPerMessage)
      .map(([id, lease]) => ({ id, max: lease.max, want: lease.ask(parts) }));
    return { holds, waiting };
  }

  /** Takes the store's answer, and settles the requests that waited for it. */
  granted(holds: Pull['holds'], waiting: readonly WaitingRequest[]): void {
    for (const { id, held, unused } of holds) {
      const lease = this.#leases.get(id);
      lease?.grant(held, unused);
      // Units returned since the push still have to be sent.
      if (lease?.isIdle && held === 0) this.#leases.delete(id);
    }
    for (const { lease, settle } of waiting) settle(lease.take());
  }

  /** The store doesn't answer: `take` decides each waiting request. */
  lost(waiting: readonly WaitingRequest[], take: (lease: ConcurrencyLease) => boolean): void {
    for (const lease of this.#leases.values()) lease.lost();
    for (const { lease, settle } of waiting) settle(take(lease));
  }
}
