import { type Fact, maxFact, maxId, maxPerMessage } from './contract.ts';
import { FactBook, type KnownFact } from './facts.ts';

const maxFacts = 10_000;

/** The shared facts, as one member knows them. */
export class SharedFacts {
  readonly #nowMs: () => number;
  readonly #known = new FactBook<KnownFact>(maxFacts);
  /** Facts that the store doesn't know yet. */
  readonly #unpublished = new Map<string, KnownFact>();
  readonly #listeners = new Set<(fact: Fact) => void>();

  /** `nowMs`: a monotonic clock, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Publishes a fact. A fact that is too long for a message is left out. */
  publish({ id, value, forMs }: Fact): void {
    if (id.length > maxId || value.length > maxFact) return;
    const nowMs = this.#nowMs();
    const fact = { id, value, expiresMs: nowMs + forMs };
    if (!this.#known.put(fact, nowMs)) return;
    if (this.#unpublished.size < maxFacts || this.#unpublished.has(id)) this.#unpublished.set(id, fact);
  }

  /** Calls `listener` with each fact that another member publishes. */
  listen(listener: (fact: Fact) => void): void {
    this.#listeners.add(listener);
  }

  /** The facts of the next push. Call `sent` once the store has them. */
  compose(): { readonly facts: Fact[]; readonly sent: () => void } {
    const nowMs = this.#nowMs();
    for (const [id, { expiresMs }] of this.#unpublished) if (expiresMs <= nowMs) this.#unpublished.delete(id);
    const due = [...this.#unpublished.values()].slice(0, maxPerMessage);
    return {
      facts: due.map(({ id, value, expiresMs }) => ({ id, value, forMs: expiresMs - nowMs })),
      sent: () => {
        for (const fact of due) if (this.#unpublished.get(fact.id) === fact) this.#unpublished.delete(fact.id);
      },
    };
  }

  /** Takes facts of other members. */
  receive(facts: readonly Fact[]): void {
    const nowMs = this.#nowMs();
    for (const { id, value, forMs } of facts) {
      if (!this.#known.put({ id, value, expiresMs: nowMs + forMs }, nowMs)) continue;
      this.#unpublished.delete(id);
      for (const listener of this.#listeners) listener({ id, value, forMs });
    }
  }

  /** The store was emptied: all live facts are published again. */
  lost(): void {
    for (const fact of this.#known.live(this.#nowMs())) this.#unpublished.set(fact.id, fact);
  }
}
