/** An entry and when it expires, in milliseconds of the holder's clock. */
export interface KnownEntry {
  readonly id: string;
  readonly value: string;
  readonly expiresMs: number;
}

/** Entries by id. Bounded: when it is full, those that expire first go. */
export class EntryTable<F extends KnownEntry> {
  readonly #entries = new Map<string, F>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes an entry over unless it has expired or a known one expires later. Returns whether it did. */
  put(entry: F, nowMs: number): boolean {
    if (entry.expiresMs <= nowMs) return false;
    const known = this.#entries.get(entry.id);
    if (known && known.expiresMs > entry.expiresMs) return false;
    // At the end of the order, so that the map's order is that of the changes.
    this.#entries.delete(entry.id);
    if (this.#entries.size >= this.#max) this.#makeRoom(nowMs);
    this.#entries.set(entry.id, entry);
    return true;
  }

  /** Live entries, in the order of their last change. */
  live(nowMs: number): readonly F[] {
    return [...this.#entries.values()].filter(({ expiresMs }) => expiresMs > nowMs);
  }

  #makeRoom(nowMs: number): void {
    const all = [...this.#entries.values()];
    const live = all.filter(({ expiresMs }) => expiresMs > nowMs);
    // Evicts an eighth at once, so that a full map isn't sorted on every insert.
    const kept = live.length < this.#max ? live.length : Math.floor(this.#max * 0.875);
    const leaving = new Set(all.toSorted((one, other) => other.expiresMs - one.expiresMs).slice(kept));
    for (const { id } of leaving) this.#entries.delete(id);
  }
}
