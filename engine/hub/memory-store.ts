import { LRUCache } from 'lru-cache';
import type { BlobJournal } from './blob-journal.ts';
import type {
  Blob,
  BlobValues,
  ConcurrencyRequest,
  Entry,
  HubStore,
  Pull,
  Push,
  WindowGrant,
  WindowRequest,
} from './contract.ts';
import { maxPerMessage } from './contract.ts';
import { EntryTable } from './entries.ts';
import { Window } from './window.ts';

/** Options of a store in memory. */
interface MemoryStoreOptions {
  readonly nowMs: () => number;
  /** Identifies this instance of the store. */
  readonly epoch: string;
  /** Time without a push after which a member counts as gone, in milliseconds. */
  readonly memberMs?: number;
  /** Characters of all blobs. */
  readonly blobCharacters?: number;
  /** Keeps blobs beyond the life of the process; absent: they are in memory alone. */
  readonly journal?: BlobJournal | undefined;
  /** Keeps entries beyond the life of the process, those whose ids begin so; absent: none. */
  readonly lasting?: { readonly prefix: string; readonly journal: BlobJournal } | undefined;
}

/**
 * Time without a push after which a member may be using its share of each limit, which the others don't get then, in milliseconds.
 * Members push more often, and count the store as silent later.
 */
const staleMs = 400;

const maxEntries = 10_000;
const maxCounters = 100_000;
const maxLimits = 10_000;
const maxMembers = 1_000;
const maxBlobs = 50_000;
const defaultBlobCharacters = 32 << 20;
const defaultMemberMs = 30_000;
/** A blob's name, its entry in the list. */
const blobOverhead = 300;

interface Member {
  about: string;
  seenMs: number;
  /** Number of its last applied batch. */
  applied: number;
  /** Number of members in its last answer: its share while it is cut off is one part of these. */
  parts: number;
}

interface StoredEntry {
  readonly id: string;
  readonly value: string;
  readonly expiresMs: number;
  readonly version: number;
  readonly by: string;
}

/** A store in this process's memory. Everything is bounded. */
export class MemoryStore implements HubStore {
  readonly #options: MemoryStoreOptions;
  readonly #members = new Map<string, Member>();
  readonly #entries = new EntryTable<StoredEntry>(maxEntries);
  #version = 0;
  readonly #sums = new Map<string, number>();
  readonly #windows = new LRUCache<string, Window>({ max: maxLimits });
  readonly #concurrency = new Map<string, Map<string, number>>();
  readonly #blobs: LRUCache<string, { readonly value: string; readonly expiresMs: number }>;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#blobs = new LRUCache({
      max: maxBlobs,
      maxSize: options.blobCharacters ?? defaultBlobCharacters,
      sizeCalculation: ({ value }) => value.length + blobOverhead,
    });
    for (const blob of options.journal?.read() ?? []) this.#keepBlob(blob);
    for (const { name: id, value, forMs } of options.lasting?.journal.read() ?? [])
      this.#putEntry({ id, value, forMs }, '', options.nowMs());
  }

  exchange(push: Push): Promise<Pull> {
    const nowMs = this.#options.nowMs();
    const { epoch } = this.#options;
    this.#forgetMembers(nowMs);
    const member = this.#member(push, nowMs);
    for (const entry of push.facts) this.#takeEntry(entry, push.member, nowMs);
    if (push.batch) this.#apply(push.batch, member);
    const known = push.epoch === epoch ? push.version : 0;
    const newer = this.#entries.live(nowMs).filter(({ version }) => version > known);
    const sent = newer.slice(0, maxPerMessage);
    member.parts = this.#members.size;
    const holds = push.holds.map((ask) => this.#grantConcurrency(ask, push.member));
    if (push.leaves) this.leave(push.member);
    return Promise.resolve({
      epoch,
      version: newer.length > sent.length ? (sent.at(-1)?.version ?? 0) : this.#version,
      facts: sent
        .filter(({ by }) => by !== push.member)
        .map(({ id, value, expiresMs }) => ({ id, value, forMs: expiresMs - nowMs })),
      applied: member.applied,
      totals: push.totals.map((id): [string, number] => [id, this.#sums.get(id) ?? 0]),
      windows: push.windows.map((ask) => this.#grant(ask, nowMs)),
      holds,
      members: [...this.#members].map(([name, { about }]) => ({ member: name, about })).slice(0, maxPerMessage),
    });
  }

  putBlob(blob: Blob): void {
    this.#keepBlob(blob);
    this.#options.journal?.append(blob);
  }

  #keepBlob({ name, value, forMs }: Blob): void {
    this.#blobs.set(name, { value, expiresMs: this.#options.nowMs() + forMs });
  }

  readBlobs(names: readonly string[]): Promise<BlobValues> {
    const nowMs = this.#options.nowMs();
    return Promise.resolve(
      names.map((name) => {
        const blob = this.#blobs.get(name);
        return blob && blob.expiresMs > nowMs ? blob.value : null;
      }),
    );
  }

  /** Forgets a member and its holds; its counts stay. */
  leave(name: string): void {
    this.#members.delete(name);
    for (const [id, held] of this.#concurrency) {
      held.delete(name);
      if (held.size === 0) this.#concurrency.delete(id);
    }
  }

  #member({ member: name, about }: Push, nowMs: number): Member {
    const member = this.#members.get(name) ?? { about, seenMs: nowMs, applied: 0, parts: 1 };
    member.about = about;
    member.seenMs = nowMs;
    if (this.#members.size < maxMembers || this.#members.has(name)) this.#members.set(name, member);
    return member;
  }

  #forgetMembers(nowMs: number): void {
    const { memberMs = defaultMemberMs } = this.#options;
    for (const [name, { seenMs }] of this.#members) if (seenMs < nowMs - memberMs) this.leave(name);
  }

  #takeEntry(entry: Entry, by: string, nowMs: number): void {
    const { lasting } = this.#options;
    const isNew = this.#putEntry(entry, by, nowMs);
    const { id, value, forMs } = entry;
    if (isNew && lasting && id.startsWith(lasting.prefix)) lasting.journal.append({ name: id, value, forMs });
  }

  #putEntry({ id, value, forMs }: Entry, by: string, nowMs: number): boolean {
    const next = this.#version + 1;
    const isNew = this.#entries.put({ id, value, expiresMs: nowMs + forMs, version: next, by }, nowMs);
    if (isNew) this.#version = next;
    return isNew;
  }

  #apply({ number, sums }: NonNullable<Push['batch']>, member: Member): void {
    if (number <= member.applied) return;
    member.applied = number;
    for (const [id, by] of sums) {
      const before = this.#sums.get(id);
      if (before !== undefined || this.#sums.size < maxCounters) this.#sums.set(id, (before ?? 0) + by);
    }
  }

  #grant({ id, max, windowMs, want, back, unleased }: WindowRequest, nowMs: number): WindowGrant {
    // Another window is another limit: its slots can't be compared.
    const name = `${windowMs} ${id}`;
    const window = this.#windows.get(name) ?? new Window(windowMs);
    this.#windows.set(name, window);
    for (const [slot, count] of back) window.giveBack(nowMs, slot, count);
    if (unleased > 0) window.add(nowMs, unleased);
    const granted = Math.min(want, Math.max(0, Math.floor(max * this.#present(nowMs)) - window.used(nowMs)));
    return { id, granted, slot: window.add(nowMs, granted), used: window.ages(nowMs) };
  }

  /** The part of a limit that remains without the shares of silent members. */
  #present(nowMs: number): number {
    let present = 1;
    for (const { seenMs, parts } of this.#members.values()) if (seenMs < nowMs - staleMs) present -= 1 / parts;
    return Math.max(0, present);
  }

  #grantConcurrency({ id, max, want }: ConcurrencyRequest, member: string): Pull['holds'][number] {
    const known = this.#concurrency.get(id) ?? new Map<string, number>();
    known.delete(member);
    const others = [...known.values()].reduce((sum, count) => sum + count, 0);
    const held = Math.min(want, Math.max(0, max - others));
    const answer = { id, held, unused: Math.max(0, max - others - held) };
    if (held > 0) known.set(member, held);
    if (known.size === 0) this.#concurrency.delete(id);
    else if (this.#concurrency.has(id) || this.#concurrency.size < maxLimits) this.#concurrency.set(id, known);
    else return { ...answer, held: 0 };
    return answer;
  }
}
