import { createClientUse } from './client-use.ts';
import type { Database } from './sqlite.ts';
import { createUsage } from './usage.ts';

/*
 * `requests` has a row of numbers per request, `lines` the `KeptRequest` as JSON text under the same id: what is summed up isn't read
 * past texts. `kinds` has what many requests share (`Kind`), as JSON text; `shape` packs classes of figures (`shapes.ts`).
 *
 * The indexes, each of which has all columns of the queries that use it: by time, for pages, bars and spans; by kind, for
 * facets and sums over everything, which need no sorting in its order; by session. Times are milliseconds since 1970, `duration` and
 * `first_byte` milliseconds, `cost` billionths of a USD. `ended` may be the same for several requests: pages go by `ended, id`.
 */
const createRequests = `
CREATE TABLE kinds (id INTEGER PRIMARY KEY AUTOINCREMENT, names TEXT NOT NULL UNIQUE);
CREATE TABLE sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  ended INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  shape INTEGER NOT NULL,
  duration REAL NOT NULL,
  first_byte REAL,
  cost INTEGER,
  tokens INTEGER NOT NULL,
  session INTEGER,
  started INTEGER NOT NULL,
  turns INTEGER,
  input INTEGER,
  cache_read INTEGER,
  cache_write INTEGER,
  output INTEGER,
  reasoning INTEGER,
  request TEXT NOT NULL,
  tools TEXT,
  reason TEXT,
  fault TEXT
);
CREATE TABLE lines (id INTEGER PRIMARY KEY, line TEXT NOT NULL);
CREATE TABLE converted (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX requests_ended ON requests (ended, kind, shape, duration, cost, tokens);
CREATE INDEX requests_kind ON requests (kind, shape, ended, cost, tokens);
CREATE INDEX requests_session ON requests (session, ended, kind, shape) WHERE session IS NOT NULL;
`;

/** What brings a file from each version to the next. */
const steps: readonly string[] = [createRequests, createUsage, createClientUse];

/** The version of the tables. A file of a later one is left alone. */
const tablesVersion = steps.length;

/** How long a statement waits for another program that has locked the file, in milliseconds. */
const lockedMs = 2_000;

/** A file that a later version of the service has written. */
export class LaterTables extends Error {}

/** Makes an opened file ready to be written. Throws `LaterTables`. */
export const prepareToWrite = (db: Database): void => {
  db.exec(`PRAGMA busy_timeout = ${lockedMs}`);
  if (versionOf(db) === 0) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = FAST');
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(db);
    if (version > tablesVersion) throw new LaterTables(`Its version is ${version}.`);
    for (const step of steps.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${tablesVersion}`);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
};

/** Makes an opened file ready to be read alone. Whether it has the tables of this version. */
export const prepareToRead = (db: Database): boolean => {
  db.exec(`PRAGMA busy_timeout = ${lockedMs}; PRAGMA query_only = ON`);
  return versionOf(db) === tablesVersion;
};

const versionOf = (db: Database): number => Number(db.prepare('PRAGMA user_version').get()?.user_version);
