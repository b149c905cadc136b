import { createRequire } from 'node:module';
import { root } from '../paths.ts';

/*
 * SQLite as the store uses it: `node:sqlite`, which Node.js has from 22.13 on, else the package `libsql`. Both open a file at once
 * and work synchronously. They differ in how they name errors, and in that libsql's `readonly` isn't kept to: `query_only` is.
 */

/** What a column holds. A number without a fraction is stored as an integer; in an expression, a parameter is a float. */
export type SqlValue = string | number | null;

/** A row of an answer, by column. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A prepared statement. Parameters are positional. */
export interface Statement {
  readonly run: (...values: readonly SqlValue[]) => {
    readonly lastInsertRowid: number | bigint;
    readonly changes: number | bigint;
  };
  readonly get: (...values: readonly SqlValue[]) => SqlRow | undefined;
  readonly all: (...values: readonly SqlValue[]) => readonly SqlRow[];
}

/** An open database. */
export interface Database {
  readonly exec: (sql: string) => unknown;
  readonly prepare: (sql: string) => Statement;
  readonly close: () => unknown;
}

/** A library that runs here. */
export interface Sqlite {
  readonly library: 'node:sqlite' | 'libsql';
  /** Opens a file, which is created if there is none; `:memory:` is no file. */
  readonly open: (file: string) => Database;
}

/** The library that runs here; `undefined`: none does. */
export const loadSqlite = (only?: Sqlite['library']): Sqlite | undefined =>
  (only === 'libsql' ? undefined : ownSqlite()) ?? (only === 'node:sqlite' ? undefined : libsql());

const ownSqlite = (): Sqlite | undefined => {
  const module = withoutWarning('SQLite', () => process.getBuiltinModule('node:sqlite'));
  if (!module || !('DatabaseSync' in module) || typeof module.DatabaseSync !== 'function') return undefined;
  const { DatabaseSync } = module;
  return { library: 'node:sqlite', open: (file) => Reflect.construct(DatabaseSync, [file]) };
};

const libsql = (): Sqlite | undefined => {
  try {
    const opened = createRequire(root)('#libsql');
    return { library: 'libsql', open: (file) => withListedValues(Reflect.construct(opened, [file])) };
  } catch {
    return undefined;
  }
};

/** A statement of libsql, which also takes its values in one list. */
interface LibsqlStatement {
  readonly run: (values: readonly SqlValue[]) => ReturnType<Statement['run']>;
  readonly get: (values: readonly SqlValue[]) => SqlRow | undefined;
  readonly all: (values: readonly SqlValue[]) => readonly SqlRow[];
}

/** libsql copies separate values into a list, and flattens it: for a row of twenty that costs more than to bind them. */
const withListedValues = (
  db: Pick<Database, 'exec' | 'close'> & { readonly prepare: (sql: string) => LibsqlStatement },
): Database => ({
  exec: (sql) => db.exec(sql),
  prepare(sql) {
    const statement = db.prepare(sql);
    return {
      run: (...values) => statement.run(values),
      get: (...values) => statement.get(values),
      all: (...values) => statement.all(values),
    };
  },
  close: () => db.close(),
});

/** Calls `load` without the warning that its module is experimental. */
const withoutWarning = <T>(named: string, load: () => T): T => {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...more: readonly unknown[]) => {
    const isExpected = more[0] === 'ExperimentalWarning' && String(warning).startsWith(named);
    if (!isExpected) Reflect.apply(emitWarning, process, [warning, ...more]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
};

/** SQLite's codes of a file that isn't a database, or not any more. */
const damaged: readonly unknown[] = [11, 26];

/** Whether an error says that the file is damaged. */
export const isDamage = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const code = 'errcode' in error ? error.errcode : 'rawCode' in error ? error.rawCode : undefined;
  return damaged.includes(typeof code === 'number' ? code & 0xff : code);
};
