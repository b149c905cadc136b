import { LRUCache } from 'lru-cache';
import { maxId, maxPerMessage, type Pull, type Push } from './contract.ts';

const maxCounters = 10_000;

/** How long a counter that isn't read is still watched, in milliseconds: longer than a day, the period of most counters. */
const totalsMs = 26 * 3_600_000;

/** A member's additions to the shared counters, and their last known totals. */
export class Counters {
  #unsent = new Map<string, number>();
  /** Sums that the store hasn't acknowledged. It counts a batch once. */
  #batch: { readonly number: number; readonly sums: ReadonlyMap<string, number> } | undefined;
  #batches = 0;
  /** The watched counters, as of the last exchange. */
  readonly #totals: LRUCache<string, { readonly total: number | undefined }>;
  /** All that this member has added, for a store that was emptied. */
  restate: () => Iterable<readonly [id: string, sum: number]> = () => [];

  /** `nowMs`: a monotonic clock, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#totals = new LRUCache({
      max: maxCounters,
      ttl: totalsMs,
      updateAgeOnGet: true,
      noUpdateTTL: true,
      perf: { now: nowMs },
    });
  }

  /** Adds a whole number to a counter. */
  add(id: string, by: number): void {
    if (id.length > maxId) return;
    if (this.#unsent.size >= maxCounters && !this.#unsent.has(id)) return;
    this.#unsent.set(id, (this.#unsent.get(id) ?? 0) + by);
  }

  /** A counter as of the last exchange, plus what was added here since. The first call starts watching it. */
  total(id: string): number {
    const { total = 0 } = this.#watched(id);
    return total + (this.#batch?.sums.get(id) ?? 0) + (this.#unsent.get(id) ?? 0);
  }

  /** Whether the totals of these counters are known. */
  areKnown(ids: readonly string[]): boolean {
    return !ids.map((id) => this.#watched(id).total !== undefined).includes(false);
  }

  /** The counters' part of the next push. */
  compose(): Pick<Push, 'batch' | 'totals'> {
    if (!this.#batch && this.#unsent.size > 0) this.#nextBatch();
    const batch = this.#batch;
    return {
      ...(batch && { batch: { number: batch.number, sums: [...batch.sums].map(([id, by]) => [id, by]) } }),
      totals: [...this.#totals.keys()].slice(0, maxPerMessage),
    };
  }

  /** Takes the store's answer. */
  receive({ applied, totals }: Pick<Pull, 'applied' | 'totals'>): void {
    if (this.#batch && applied >= this.#batch.number) this.#batch = undefined;
    for (const [id, total] of totals) this.#totals.set(id, { total });
  }

  /** The store was emptied. The batch of the exchange that revealed it is the first that counts. */
  lost(): void {
    for (const [id, sum] of this.restate()) this.#unsent.set(id, sum - (this.#batch?.sums.get(id) ?? 0));
  }

  #nextBatch(): void {
    const sums = [...this.#unsent].slice(0, maxPerMessage);
    for (const [id] of sums) this.#unsent.delete(id);
    this.#batches += 1;
    this.#batch = { number: this.#batches, sums: new Map(sums) };
  }

  #watched(id: string): { readonly total: number | undefined } {
    const known = this.#totals.get(id);
    if (known) return known;
    const unknown = { total: undefined };
    this.#totals.set(id, unknown);
    return unknown;
  }
}
