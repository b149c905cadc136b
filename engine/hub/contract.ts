import Type, { type Static } from 'typebox';

/*
 * What members of a service share, as messages between a member and the store. A member decides alone, and exchanges with the
 * store at each tick: one message pushes what has changed and pulls what is newer. The next tick makes up for a lost message. Times
 * travel as durations, since members' clocks differ.
 */

/** Longest name of anything, and value of an entry, in characters. */
export const maxId = 4_096;
export const maxEntry = 1_024;

const Id = Type.String({ minLength: 1, maxLength: maxId });
const Count = Type.Integer({ minimum: 0 });
const Ms = Type.Number({ minimum: 0 });

/** A value with a time to live. Of two entries with the same id, the one that expires later wins. */
const Entry = Type.Object({ id: Id, value: Type.String({ maxLength: maxEntry }), forMs: Ms });
export type Entry = Static<typeof Entry>;

/** Entries, sums and leases per message; the rest follows at the next tick. */
export const maxPerMessage = 1_000;

const list = <T extends Type.TSchema>(item: T) => Type.Array(item, { maxItems: maxPerMessage });

/** Requests a block of a rate limit. */
const WindowRequest = Type.Object({
  id: Id,
  max: Count,
  windowMs: Type.Number({ exclusiveMinimum: 0 }),
  want: Count,
  /** Unused parts of earlier leases, by the slot that each was taken from. */
  back: Type.Array(Type.Tuple([Type.Integer(), Count]), { maxItems: 128 }),
  /** Admitted without a lease while the store didn't answer. */
  unleased: Count,
  /**
   * After the store was emptied: what the member has admitted, by its age in slots. Counted once, instead of `unleased`; after
   * that, `unleased` is what the member has admitted since.
   */
  seed: Type.Optional(Type.Array(Type.Tuple([Count, Count]), { maxItems: 128 })),
});
export type WindowRequest = Static<typeof WindowRequest>;

const WindowGrant = Type.Object({
  id: Id,
  granted: Count,
  /** The slot that the block was taken from. */
  slot: Type.Integer(),
  /** All members' use in the window: the age of each slot, in slots, and its count. */
  used: Type.Array(Type.Tuple([Count, Count]), { maxItems: 128 }),
});
export type WindowGrant = Static<typeof WindowGrant>;

/** Units of a concurrency limit that the member asks for; the store answers with those that it grants. */
const ConcurrencyRequest = Type.Object({ id: Id, max: Count, want: Count });
export type ConcurrencyRequest = Static<typeof ConcurrencyRequest>;

/** A member's message to the store. */
export const Push = Type.Object({
  member: Type.String({ minLength: 1, maxLength: 128 }),
  /** The member's description, for the others. */
  about: Type.String({ maxLength: 1_024 }),
  /** The store's epoch and the newest version of entries that the member knows; empty and 0 at first. */
  epoch: Type.String({ maxLength: 128 }),
  version: Count,
  facts: list(Entry),
  /**
   * Added to counters once, however often it is sent: only if the number is above the last one. The first word of a counter's id
   * is the period that it counts: counters are forgotten some time after the last change of any in the same period.
   */
  batch: Type.Optional(Type.Object({ number: Count, sums: list(Type.Tuple([Id, Type.Integer()])) })),
  /** Counters whose totals the member wants. */
  totals: list(Id),
  windows: list(WindowRequest),
  holds: list(ConcurrencyRequest),
  /** Set in the member's final push. */
  leaves: Type.Optional(Type.Boolean()),
});
export type Push = Static<typeof Push>;

/** The store's answer. */
export const Pull = Type.Object({
  /** Differs from the last one if the store was emptied. */
  epoch: Type.String({ maxLength: 128 }),
  version: Count,
  facts: list(Entry),
  /** The member's last batch that was applied. */
  applied: Count,
  totals: list(Type.Tuple([Id, Type.Integer()])),
  windows: list(WindowGrant),
  /** Units that the member holds, and that no member holds. */
  holds: list(Type.Object({ id: Id, held: Count, unused: Count })),
  /** All members, this one included. */
  members: list(Type.Object({ member: Type.String(), about: Type.String() })),
  /** The store was emptied a moment ago, and grants no leases until the members have had time to report what they admitted. */
  isFresh: Type.Optional(Type.Boolean()),
  /** Offset of the clock of the store's user against the store's, in milliseconds. */
  clockOffMs: Type.Optional(Type.Integer()),
});
export type Pull = Static<typeof Pull>;

/** Longest value of a blob, in characters. */
export const maxBlob = 1 << 20;
/** Blobs per read. */
export const maxNames = 1_000;

/** A sealed value: only holders of the key can read it. */
export const Blob = Type.Object({ name: Id, value: Type.String({ maxLength: maxBlob }), forMs: Ms });
export type Blob = Static<typeof Blob>;

/** Names of blobs, and their values in the same order; `null`: unknown or expired. */
export const BlobNames = Type.Array(Id, { maxItems: maxNames });
export const BlobValues = Type.Array(Type.Union([Type.String({ maxLength: maxBlob }), Type.Null()]), {
  maxItems: maxNames,
});
export type BlobValues = Static<typeof BlobValues>;

/** The store that members exchange with. Promises may reject or never settle; members then continue alone. */
export interface HubStore {
  readonly exchange: (push: Push) => Promise<Pull>;
  /** Keeps a blob; sent at once. */
  readonly putBlob: (blob: Blob) => void;
  /** `late` gets the values again if more of them arrive after the answer. */
  readonly readBlobs: (names: readonly string[], late?: (values: BlobValues) => void) => Promise<BlobValues>;
}
