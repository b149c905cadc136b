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
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../model/fault.ts';
import { KindIds } from './kinds.ts';
import { rowColumns, rowOf } from './row.ts';
import { type Database, isDamage, type Sqlite, type Statement } from './sqlite.ts';
import { LaterTables, prepareToWrite } from './tables.ts';

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
  /** The folder in which versions before the store kept lines of requests. */
  readonly olderFolder?: string | undefined;
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
  readonly kinds: KindIds;
  readonly insert: Statement;
  readonly insertLine: Statement;
  readonly insertSession: Statement;
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

  /** Keeps requests: whole lines, each with its line feed. Then removes the oldest ones if there are too many. */
  append(lines: string): void {
    if (this.#bounds.days === 0) return;
    this.#within((opened) => insertLines(opened, lines));
    if (this.#opened && usedBytes(this.#opened.db) > this.#bounds.bytes) this.#remove(0);
  }

  /** Removes what is beyond the bounds at this time, in milliseconds since 1970, and keeps to them from now on. */
  bound(bounds: StoreBounds, nowMs: number): void {
    this.#bounds = bounds;
    if (bounds.days === 0) this.clear();
    else this.prune(nowMs);
  }

  /** Removes what is too old at this time, then the oldest requests until the rest isn't too large; at most so many that it takes a second. */
  prune(nowMs: number): void {
    if (!this.#remove(nowMs - this.#bounds.days * dayMs)) return;
    this.#whereKept((db) => {
      inTransaction(db, () => {
        db.exec('DELETE FROM sessions WHERE id NOT IN (SELECT session FROM requests WHERE session IS NOT NULL)');
        db.exec('DELETE FROM kinds WHERE id NOT IN (SELECT kind FROM requests)');
      });
      this.#opened?.kinds.forget();
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
    this.#opened?.kinds.forget();
    for (const name of this.#olderFiles()) this.#removeOlder(name);
  }

  /** Takes over the requests of one file of an earlier version, and removes it. Whether there are more. */
  convertNext(): boolean {
    const [name, ...more] = this.#olderFiles();
    const { olderFolder } = this.#options;
    if (name === undefined || olderFolder === undefined || this.#isOff) return false;
    if (this.#bounds.days > 0) {
      const lines = readFileSync(join(olderFolder, name), 'utf8');
      this.#within((opened) => {
        // A kill between both left the file.
        if (opened.db.prepare('SELECT 1 FROM converted WHERE name = ?').get(name)) return;
        insertLines(opened, lines, () => opened.db.prepare('INSERT INTO converted VALUES (?)').run(name));
      });
    }
    if (!this.#isOff) this.#removeOlder(name);
    return more.length > 0 && !this.#isOff;
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

  #olderFiles(): readonly string[] {
    const { olderFolder } = this.#options;
    if (olderFolder === undefined || !existsSync(olderFolder)) return [];
    const entries = readdirSync(olderFolder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isFile() && olderName.test(entry.name) ? entry.name : [])).toSorted();
  }

  #removeOlder(name: string): void {
    const { olderFolder = '' } = this.#options;
    rmSync(join(olderFolder, name), { force: true });
    try {
      rmdirSync(olderFolder);
    } catch {
      // There are other files in it.
    }
  }

  /** `work` on the file, if there is one. */
  #whereKept(work: (db: Database) => void): void {
    if (this.#opened || existsSync(this.#options.file)) this.#within(({ db }) => work(db));
  }

  #within(work: (opened: Opened) => void): void {
    if (this.#isOff) return;
    try {
      const opened = this.#open();
      if (opened) work(opened);
    } catch (error) {
      this.#opened?.kinds.forget();
      if (!isDamage(error)) throw error;
      this.#setAside(error);
      const opened = this.#open();
      if (opened) work(opened);
    }
  }

  #open(): Opened | undefined {
    if (this.#opened) return this.#opened;
    const { file } = this.#options;
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
      kinds: new KindIds(db),
      insert: db.prepare(
        `INSERT INTO requests (${columns.join(', ')}) VALUES (?, ?, (SELECT id FROM sessions WHERE name = ?), ${rowColumns.map(() => '?').join(', ')})`,
      ),
      insertLine: db.prepare('INSERT INTO lines (line) VALUES (?)'),
      insertSession: db.prepare('INSERT OR IGNORE INTO sessions (name) VALUES (?)'),
    };
    return this.#opened;
  }

  #setAside(error: unknown): void {
    const { file } = this.#options;
    this.close();
    const aside = `${file}.damaged-${Date.now()}`;
    renameSync(file, aside);
    for (const more of ['-wal', '-shm']) {
      if (existsSync(`${file}${more}`)) renameSync(`${file}${more}`, `${aside}${more}`);
    }
    this.#warn('the file of requests is damaged and was set aside; a new one begins', `${aside}: ${problemOf(error)}`);
  }
}

const problemOf = (error: unknown): string =>
  (error instanceof Error ? error.message : undefined) ?? errorCode(error) ?? String(error);

const insertLines = (
  { db, kinds, insert, insertLine, insertSession }: Opened,
  lines: string,
  more?: () => void,
): void =>
  inTransaction(db, () => {
    for (const line of lines.split('\n')) {
      const row = line === '' ? undefined : rowOf(line);
      if (!row) continue;
      const id = Number(insertLine.run(line).lastInsertRowid);
      if (row.session !== undefined) insertSession.run(row.session);
      insert.run(id, kinds.idOf(row.kind), row.session ?? null, ...row.values);
    }
    more?.();
  });

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

/** Gives unused pages back to the disk. */
const shrink = (db: Database): void => {
  db.prepare('PRAGMA incremental_vacuum').all();
};
