import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../model/fault.ts';
import { takeClientFiles } from './client-files.ts';
import { ClientUseTable, clientUseIn, type KeptUse, type LineBatch, UseSums } from './client-use.ts';
import { KindIds, SessionIds } from './kinds.ts';
import { addOlderUsage, olderUsageIn } from './older-usage.ts';
import { addUse, rowColumns, rowOf, usedIn } from './row.ts';
import { type Database, isDamage, type Sqlite, type Statement } from './sqlite.ts';
import { LaterTables, prepareToWrite } from './tables.ts';
import { UsageTable } from './usage.ts';

/** What is kept at most. `days` 0: nothing. */
export interface StoreBounds {
  readonly days: number;
  /** Size of what is kept, in bytes, on disk. */
  readonly bytes: number;
}

/** Options of `StoreWriter`. */
export interface WriterOptions {
  /** `:memory:` is no file. */
  readonly file: string;
  /** The folders in which versions before the store kept lines of requests, sums, and the use of clients. */
  readonly older?: { readonly requests: string; readonly usage: string; readonly clients: string } | undefined;
}

/** How requests are kept. */
export interface Appending {
  /** Absent: they are kept however often they come. */
  readonly batch?: LineBatch | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

const dayMs = 86_400_000;

/** Requests that are removed in one transaction, and transactions at a time. */
const removedCount = 1_000;
const maxRounds = 50;

/** An earlier version's file of lines. */
const olderName = /^\d{1,16}\.\d{1,10}-\d{1,16}\.jsonl$/;

/** What is prepared once per opened file. */
interface Opened {
  readonly db: Database;
  /** Of the file. */
  readonly inode: number | undefined;
  readonly kinds: KindIds;
  readonly sessions: SessionIds;
  readonly usage: UsageTable;
  readonly clientUse: ClientUseTable;
  readonly insert: Statement;
  readonly insertLine: Statement;
}

/**
 * Writes the requests that ended, in one file. A damaged file is set aside, and a new one takes its place; a file of a later version is left
 * alone, and nothing is kept. Every method is synchronous, and throws if the disk refuses: then nothing of the call was kept.
 */
export class StoreWriter {
  readonly #sqlite: Sqlite;
  readonly #options: WriterOptions;
  readonly #warn: (message: string, detail: string) => void;
  #bounds: StoreBounds = { days: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  #opened: Opened | undefined;
  #isOff = false;

  constructor(sqlite: Sqlite, options: WriterOptions, warn: (message: string, detail: string) => void) {
    this.#sqlite = sqlite;
    this.#options = options;
    this.#warn = warn;
  }

  /**
   * Keeps and counts requests: whole lines, each with its line feed. Then removes the oldest ones if there are too many. A batch that was
   * kept before isn't again. `undefined`: nothing can be kept.
   */
  append(lines: string, { batch, nowMs }: Appending = { nowMs: Date.now() }): KeptUse | undefined {
    if (lines === '' && !this.#isKept) return { all: {}, added: {} };
    const isKept = this.#bounds.days > 0;
    let kept: KeptUse | undefined;
    this.#inTransaction((opened) => {
      const { clientUse } = opened;
      const isNew = batch === undefined || clientUse.isNew(batch, nowMs);
      const added = isNew ? insertLines(opened, lines, { isKept, isCounted: true }) : usedIn(lines);
      if (isNew) clientUse.add(added);
      const clients = lines === '' ? undefined : new Set([...added].map(([, client]) => client));
      kept = { all: clientUse.at(nowMs, clients), added: added.at(nowMs) };
    });
    if (this.#opened && usedBytes(this.#opened.db) > this.#bounds.bytes) this.#remove(0);
    return kept;
  }

  /** Takes over the use of clients that files have, and removes them. */
  takeClientFiles(): void {
    const { older } = this.#options;
    if (!older || this.#isOff || !existsSync(older.clients)) return;
    let taken: ReturnType<typeof takeClientFiles> | undefined;
    this.#inTransaction(({ db, clientUse }) => {
      taken = takeClientFiles(older.clients, (id) => isFirst(db, id));
      clientUse.add(taken.sums);
    });
    if (this.#isOff) return;
    for (const name of taken?.ignored ?? []) this.#warn('a file of usage is ignored: it has another form', name);
    taken?.remove();
  }

  /** Removes what is beyond the bounds at this time, in milliseconds since 1970, and keeps to them from now on. */
  bound(bounds: StoreBounds, nowMs: number): void {
    this.#bounds = bounds;
    if (bounds.days === 0) this.clear();
    else this.prune(nowMs);
  }

  /** Removes what is too old at this time, then the oldest requests until the rest isn't too large; at most so many that it takes a second. */
  prune(nowMs: number): void {
    this.#whereKept(() => {
      this.#opened?.usage.prune(nowMs);
      this.#opened?.clientUse.prune(nowMs);
    });
    if (!this.#remove(nowMs - this.#bounds.days * dayMs)) return;
    this.#whereKept((db) => {
      inTransaction(db, () => {
        db.exec('DELETE FROM sessions WHERE id NOT IN (SELECT session FROM requests WHERE session IS NOT NULL)');
        db.exec('DELETE FROM kinds WHERE id NOT IN (SELECT kind FROM requests)');
      });
      forgetIds(this.#opened);
      shrink(db);
    });
  }

  /** Whether it removed any. */
  #remove(beforeMs: number): boolean {
    let removed = 0;
    this.#whereKept((db) => {
      for (let round = 0; round < maxRounds; round += 1) {
        const isTooLarge = usedBytes(db) > this.#bounds.bytes;
        const count = removeOldest(db, isTooLarge ? Number.MAX_SAFE_INTEGER : beforeMs);
        if (count === 0) break;
        removed += count;
      }
    });
    return removed > 0;
  }

  /** Removes all requests. */
  clear(): void {
    this.#whereKept((db) => {
      inTransaction(db, () => {
        for (const table of ['requests', 'lines', 'sessions', 'kinds']) db.exec(`DELETE FROM ${table}`);
      });
      shrink(db);
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    });
    forgetIds(this.#opened);
    const { requests } = this.#options.older ?? {};
    for (const name of olderRequestsIn(requests)) removeOlder(requests, name);
  }

  /** Takes over one file of an earlier version, and removes it. Whether there are more. */
  convertNext(): boolean {
    const { older } = this.#options;
    if (!older || this.#isOff) return false;
    const [requests, usage] = [olderRequestsIn(older.requests), olderUsageIn(older.usage)];
    const [name] = requests;
    const [counted] = usage;
    // A kill may come before a file is removed: neither its lines nor a unit of its sums are taken over again.
    if (name !== undefined) {
      const isKept = this.#bounds.days > 0;
      const lines = isKept ? readFileSync(join(older.requests, name), 'utf8') : '';
      this.#inTransaction((opened) => {
        // Their sums are in the other folder.
        if (isFirst(opened.db, name)) insertLines(opened, lines, { isKept, isCounted: false });
      });
      removeOlder(older.requests, name);
    } else if (counted !== undefined) {
      this.#inTransaction((opened) => {
        addOlderUsage(older.usage, counted, opened.usage, (id) => isFirst(opened.db, id));
        opened.usage.write();
      });
      removeOlder(older.usage, counted);
    }
    return requests.length + usage.length > 1;
  }

  #inTransaction(work: (opened: Opened) => void): void {
    this.#within((opened) => inTransaction(opened.db, () => work(opened)));
  }

  /** Sets the file aside if it is damaged. */
  check(): void {
    this.#whereKept((db) => {
      const [found] = db.prepare('PRAGMA quick_check(1)').all();
      if (found?.quick_check !== 'ok') this.#setAside(new Error(String(found?.quick_check)));
    });
  }

  /** Keeps requests; returns the database, for questions about them. */
  filled(lines: string): Database {
    this.append(lines);
    if (!this.#opened) throw new Error('There is no database.');
    return this.#opened.db;
  }

  close(): void {
    const { db } = this.#opened ?? {};
    this.#opened = undefined;
    if (!db) return;
    try {
      // A library may close a file later than it says, and leave the journal.
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // The journal stays, and is read by the next start.
    }
    db.close();
  }

  /** Whether there is a file. */
  get #isKept(): boolean {
    const { file } = this.#options;
    return this.#opened !== undefined || file === ':memory:' || existsSync(file);
  }

  /** `work` on the file, if there is one. */
  #whereKept(work: (db: Database) => void): void {
    if (this.#isKept) this.#within(({ db }) => work(db));
  }

  #within(work: (opened: Opened) => void): void {
    if (this.#isOff) return;
    try {
      const opened = this.#open();
      if (opened) work(opened);
    } catch (error) {
      forgetIds(this.#opened);
      this.#opened?.usage.forget();
      if (!isDamage(error)) throw error;
      this.#setAside(error);
      const opened = this.#open();
      if (opened) work(opened);
    }
  }

  #open(): Opened | undefined {
    const { file } = this.#options;
    // The file may have been removed, or another one put in its place.
    if (this.#opened && this.#opened.inode !== inodeOf(file)) this.close();
    if (this.#opened) return this.#opened;
    if (file !== ':memory:' && !existsSync(file)) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      // Its journal gets the same mode.
      closeSync(openSync(file, 'a', 0o600));
    }
    const db = this.#sqlite.open(file);
    try {
      prepareToWrite(db);
    } catch (error) {
      db.close();
      if (!(error instanceof LaterTables)) throw error;
      this.#isOff = true;
      this.#warn('requests are not kept: a later version has written their file, which is left alone', error.message);
      return undefined;
    }
    const columns = ['id', 'kind', 'session', ...rowColumns];
    this.#opened = {
      db,
      inode: inodeOf(file),
      kinds: new KindIds(db),
      sessions: new SessionIds(db),
      usage: new UsageTable(db),
      clientUse: new ClientUseTable(db),
      insert: db.prepare(
        `INSERT INTO requests (${columns.join(', ')}) VALUES (?, ?, ?, ${rowColumns.map(() => '?').join(', ')})`,
      ),
      insertLine: db.prepare('INSERT INTO lines (line) VALUES (?)'),
    };
    return this.#opened;
  }

  #setAside(error: unknown): void {
    const { file } = this.#options;
    this.close();
    const use = this.#usedIn(file);
    const aside = `${file}.damaged-${Date.now()}`;
    renameSync(file, aside);
    for (const more of ['-wal', '-shm']) {
      if (existsSync(`${file}${more}`)) renameSync(`${file}${more}`, `${aside}${more}`);
    }
    this.#warn('the file of requests is damaged and was set aside; a new one begins', `${aside}: ${problemOf(error)}`);
    // Budgets last.
    if (use && !use.isEmpty) this.#inTransaction(({ clientUse }) => clientUse.add(use));
  }

  /** The use of clients in a damaged file, as far as it can be read. */
  #usedIn(file: string): UseSums | undefined {
    try {
      const db = this.#sqlite.open(file);
      try {
        return clientUseIn(db);
      } finally {
        db.close();
      }
    } catch {
      return undefined;
    }
  }
}

const forgetIds = (opened: Opened | undefined): void => {
  opened?.kinds.forget();
  opened?.sessions.forget();
};

const problemOf = (error: unknown): string =>
  (error instanceof Error ? error.message : undefined) ?? errorCode(error) ?? String(error);

/** Within a transaction. Returns what they add to the use of clients. */
const insertLines = (
  { kinds, sessions, usage, insert, insertLine }: Opened,
  lines: string,
  { isKept, isCounted }: { readonly isKept: boolean; readonly isCounted: boolean },
): UseSums => {
  const use = new UseSums();
  for (const line of lines.split('\n')) {
    const row = line === '' ? undefined : rowOf(line);
    if (!row) continue;
    addUse(use, row);
    if (isCounted) usage.addAt(row.endedMs, row.kind, row.counted);
    if (!isKept) continue;
    const id = Number(insertLine.run(line).lastInsertRowid);
    const session = row.session === undefined ? null : sessions.idOf(row.session);
    insert.run(id, kinds.idOf(row.kind), session, ...row.values);
  }
  if (isCounted) usage.write();
  return use;
};

const olderRequestsIn = (folder: string | undefined): readonly string[] => {
  if (folder === undefined || !existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() && olderName.test(entry.name) ? entry.name : [])).toSorted();
};

const removeOlder = (folder: string | undefined, name: string): void => {
  if (folder === undefined) return;
  rmSync(join(folder, name), { force: true });
  try {
    rmdirSync(folder);
  } catch {
    // There are other files in it.
  }
};

/** Whether a file or id of an earlier version comes for the first time; from now on it doesn't. */
const isFirst = (db: Database, name: string): boolean =>
  Number(db.prepare('INSERT OR IGNORE INTO converted VALUES (?)').run(name).changes) > 0;

const inTransaction = (db: Database, work: () => void): void => {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    try {
      db.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself.
    }
    throw error;
  }
};

/** Removes the oldest requests, of those that ended before a time; returns how many. */
const removeOldest = (db: Database, beforeMs = Number.MAX_SAFE_INTEGER): number => {
  const oldest = db
    .prepare(`SELECT id FROM requests WHERE ended < ? ORDER BY ended LIMIT ${removedCount}`)
    .all(beforeMs);
  if (oldest.length === 0) return 0;
  const ids = oldest.map(({ id }) => Number(id)).join();
  inTransaction(db, () => {
    for (const table of ['lines', 'requests']) db.exec(`DELETE FROM ${table} WHERE id IN (${ids})`);
  });
  return oldest.length;
};

/** Bytes in use, of the pages that a file has. */
const usedBytes = (db: Database): number => {
  const pragma = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
};

/** `undefined`: there is no such file. */
const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

/** Gives unused pages back to the disk. */
const shrink = (db: Database): void => {
  db.prepare('PRAGMA incremental_vacuum').all();
};
