import { type Entry, maxEntry, maxId, maxPerMessage } from './contract.ts';
import { EntryTable, type KnownEntry } from './entries.ts';

const maxEntries = 10_000;

/** The shared entries, as one member knows them. */
export class SharedEntries {
  readonly #nowMs: () => number;
  readonly #known = new EntryTable<KnownEntry>(maxEntries);
  /** Entries that the store doesn't know yet. */
  readonly #unpublished = new Map<string, KnownEntry>();
  readonly #listeners = new Set<(entry: Entry) => void>();

  /** `nowMs`: a monotonic clock, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Publishes an entry. An entry that is too long for a message is left out. */
  publish({ id, value, forMs }: Entry): void {
    if (id.length > maxId || value.length > maxEntry) return;
    const nowMs = this.#nowMs();
    const entry = { id, value, expiresMs: nowMs + forMs };
    if (!this.#known.put(entry, nowMs)) return;
    if (this.#unpublished.size < maxEntries || this.#unpublished.has(id)) this.#unpublished.set(id, entry);
  }

  /** Calls `listener` with each entry that another member publishes. */
  listen(listener: (entry: Entry) => void): void {
    this.#listeners.add(listener);
  }

  /** The entries of the next push. Call `sent` once the store has them. */
  compose(): { readonly facts: Entry[]; readonly sent: () => void } {
    const nowMs = this.#nowMs();
    for (const [id, { expiresMs }] of this.#unpublished) if (expiresMs <= nowMs) this.#unpublished.delete(id);
    const due = [...this.#unpublished.values()].slice(0, maxPerMessage);
    return {
      facts: due.map(({ id, value, expiresMs }) => ({ id, value, forMs: expiresMs - nowMs })),
      sent: () => {
        for (const entry of due) if (this.#unpublished.get(entry.id) === entry) this.#unpublished.delete(entry.id);
      },
    };
  }

  /** Takes entries of other members. */
  receive(facts: readonly Entry[]): void {
    const nowMs = this.#nowMs();
    for (const { id, value, forMs } of facts) {
      if (!this.#known.put({ id, value, expiresMs: nowMs + forMs }, nowMs)) continue;
      this.#unpublished.delete(id);
      for (const listener of this.#listeners) listener({ id, value, forMs });
    }
  }

  /** The store was emptied: all live entries are published again. */
  lost(): void {
    for (const entry of this.#known.live(this.#nowMs())) this.#unpublished.set(entry.id, entry);
  }
}
