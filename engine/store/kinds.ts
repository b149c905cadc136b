import { isJsonObject, parseJson } from '../model/json/json.ts';
import { BoundedMap } from '../runtime/memoize.ts';
import type { Database, Statement } from './sqlite.ts';

/** What many requests share; an empty text is none. */
export interface Kind {
  readonly protocol: string;
  readonly provider: string;
  readonly model: string;
  readonly asked: string;
  readonly client: string;
  readonly preset: string;
  readonly scenario: string;
  readonly pool: string;
  readonly path: string;
  readonly status: number;
  /** Answered with an error or broken off; not if its client left. */
  readonly failed: boolean;
}

/** Kinds whose `asked` and `path`, which clients choose, are told apart. */
const maxKinds = 20_000;

const otherName = 'other';

/** Kinds that are compared with one by one before its text is looked up: most requests are of the last few. */
const maxRecent = 8;

/** Gives kinds their ids. */
export class KindIds {
  readonly #db: Database;
  readonly #ids = new Map<string, number>();
  #recent: { readonly kind: Kind; readonly id: number }[] = [];

  constructor(db: Database) {
    this.#db = db;
  }

  idOf(kind: Kind): number {
    for (const one of this.#recent) if (isSame(one.kind, kind)) return one.id;
    const id = this.#known(kind) ?? this.#add(kind);
    this.#recent.unshift({ kind, id });
    if (this.#recent.length > maxRecent) this.#recent.pop();
    return id;
  }

  /** Forgets what a transaction that was rolled back may have added. */
  forget(): void {
    this.#ids.clear();
    this.#recent = [];
  }

  #known(kind: Kind): number | undefined {
    const names = JSON.stringify(kind);
    const known = this.#ids.get(names);
    if (known !== undefined) return known;
    const row = this.#db.prepare('SELECT id FROM kinds WHERE names = ?').get(names);
    if (row === undefined) return undefined;
    if (this.#ids.size >= maxKinds) this.#ids.clear();
    this.#ids.set(names, Number(row.id));
    return Number(row.id);
  }

  #add(kind: Kind): number {
    const { count } = this.#db.prepare('SELECT COUNT(*) AS count FROM kinds').get() ?? { count: 0 };
    const isOther = kind.asked === otherName && kind.path === otherName;
    if (Number(count) >= maxKinds && !isOther) return this.idOf({ ...kind, asked: otherName, path: otherName });
    this.#db.prepare('INSERT INTO kinds (names) VALUES (?)').run(JSON.stringify(kind));
    const id = this.#known(kind);
    if (id === undefined) throw new Error('A kind of requests was not kept.');
    return id;
  }
}

const isSame = (one: Kind, other: Kind): boolean => {
  let name: keyof Kind;
  for (name in one) if (one[name] !== other[name]) return false;
  return true;
};

/** Gives sessions their ids. */
export class SessionIds {
  readonly #ids = new BoundedMap<string, number>(maxKinds);
  readonly #insert: Statement;
  readonly #find: Statement;

  constructor(db: Database) {
    this.#insert = db.prepare('INSERT OR IGNORE INTO sessions (name) VALUES (?)');
    this.#find = db.prepare('SELECT id FROM sessions WHERE name = ?');
  }

  idOf(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    this.#insert.run(name);
    const id = Number(this.#find.get(name)?.id);
    this.#ids.set(name, id);
    return id;
  }

  /** Forgets what was removed, or what a transaction that was rolled back may have added. */
  forget(): void {
    this.#ids.clear();
  }
}

/** The kinds of a file, as its reader knows them: none of them ever changes. */
export class KnownKinds {
  readonly #kinds = new Map<number, Kind>();
  #last = 0;

  /** Reads those that are new. */
  read(db: Database): ReadonlyMap<number, Kind> {
    for (const { id, names } of db.prepare('SELECT id, names FROM kinds WHERE id > ? ORDER BY id').all(this.#last)) {
      this.#last = Number(id);
      this.#kinds.set(this.#last, kindOf(String(names)));
    }
    return this.#kinds;
  }
}

const kindOf = (names: string): Kind => {
  const value = parseJson(names);
  const members = isJsonObject(value) ? value : {};
  const text = (name: keyof Kind): string => String(members[name] ?? '');
  return {
    protocol: text('protocol'),
    provider: text('provider'),
    model: text('model'),
    asked: text('asked'),
    client: text('client'),
    preset: text('preset'),
    scenario: text('scenario'),
    pool: text('pool'),
    path: text('path'),
    status: Number(members.status ?? 0),
    failed: members.failed === true,
  };
};
