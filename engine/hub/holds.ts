import { maxPerMessage, type Pull, type Push } from './contract.ts';
import { HoldLease } from './hold-lease.ts';

const maxWaiting = 10_000;

/** One that waits to hold something, until the answer to the next ask. */
interface WaitingHold {
  readonly lease: HoldLease;
  readonly settle: (held: boolean) => void;
}

/** A member's part of limits of so many at a time. */
export class Holds {
  readonly #leases = new Map<string, HoldLease>();
  #waiting: WaitingHold[] = [];

  /** Whether nothing is held or waited for. */
  get isEmpty(): boolean {
    return this.#leases.size === 0;
  }

  /** Takes one of `max`. A promise: the store has to be asked, by the next ask. */
  acquire(id: string, max: number): boolean | Promise<boolean> {
    const lease = this.#leases.get(id) ?? new HoldLease();
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

  /** Gives one back. Returns whether another member may be waiting for it. */
  release(id: string): boolean {
    const lease = this.#leases.get(id);
    lease?.release();
    return lease?.isScarce ?? false;
  }

  /** How many no member uses, as far as this one knows. */
  unused(id: string): number | undefined {
    return this.#leases.get(id)?.unused;
  }

  /** What to ask for, and those that wait for the answer. `parts`: members to reckon with. */
  ask(parts: number): { readonly holds: Push['holds']; readonly waiting: readonly WaitingHold[] } {
    const waiting = this.#waiting.splice(0);
    const holds = [...this.#leases]
      .slice(0, maxPerMessage)
      .map(([id, lease]) => ({ id, max: lease.max, want: lease.ask(parts) }));
    return { holds, waiting };
  }

  /** Takes the store's answer for those that waited for it. */
  granted(holds: Pull['holds'], waiting: readonly WaitingHold[]): void {
    for (const { id, held, unused } of holds) {
      const lease = this.#leases.get(id);
      lease?.grant(held, unused);
      // What was given back after the ask has to be sent yet.
      if (lease?.isIdle && held === 0) this.#leases.delete(id);
    }
    for (const { lease, settle } of waiting) settle(lease.take());
  }

  /** The store doesn't answer: `take` decides for each of those that wait. */
  lost(waiting: readonly WaitingHold[], take: (lease: HoldLease) => boolean): void {
    for (const lease of this.#leases.values()) lease.lost();
    for (const { lease, settle } of waiting) settle(take(lease));
  }
}
