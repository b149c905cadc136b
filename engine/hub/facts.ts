/** A fact and when it expires, in milliseconds of the holder's clock. */
export interface KnownFact {
  readonly id: string;
  readonly value: string;
  readonly expiresMs: number;
}

/** Facts by id. Bounded: when it is full, those that expire first go. */
export class FactBook<F extends KnownFact> {
  readonly #facts = new Map<string, F>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a fact over unless it has expired or a known one expires later. Returns whether it did. */
  put(fact: F, nowMs: number): boolean {
    if (fact.expiresMs <= nowMs) return false;
    const known = this.#facts.get(fact.id);
    if (known && known.expiresMs > fact.expiresMs) return false;
    // At the end of the order, so that the map's order is that of the changes.
    this.#facts.delete(fact.id);
    if (this.#facts.size >= this.#max) this.#makeRoom(nowMs);
    this.#facts.set(fact.id, fact);
    return true;
  }

  /** Those that haven't expired, in the order of their last change. */
  live(nowMs: number): readonly F[] {
    return [...this.#facts.values()].filter(({ expiresMs }) => expiresMs > nowMs);
  }

  #makeRoom(nowMs: number): void {
    const all = [...this.#facts.values()];
    const live = all.filter(({ expiresMs }) => expiresMs > nowMs);
    // Evicts an eighth at once, so that a full map isn't sorted on every insert.
    const kept = live.length < this.#max ? live.length : Math.floor(this.#max * 0.875);
    const leaving = new Set(all.toSorted((one, other) => other.expiresMs - one.expiresMs).slice(kept));
    for (const { id } of leaving) this.#facts.delete(id);
  }
}
