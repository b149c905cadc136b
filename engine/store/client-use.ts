import { isJsonObject, type Json } from '../model/json/json.ts';
import { BoundedMap } from '../runtime/memoize.ts';
import type { Database, SqlRow, Statement } from './sqlite.ts';

/** The periods that the use of clients is summed up for, in UTC. */
export type UsePeriod = 'day' | 'month';

/** What a client used. */
export interface Used {
  readonly requests: number;
  /** Tokens of prompts, cached ones included. */
  readonly input: number;
  /** Tokens of answers, reasoning included. */
  readonly output: number;
  /** What the answers cost, in nano-dollars, as far as that is known. */
  readonly cost: number;
  /** Requests whose cost isn't known. */
  readonly unpriced: number;
}

export const nothingUsed: Used = { requests: 0, input: 0, output: 0, cost: 0, unpriced: 0 };

const isUsedName = (name: string): name is keyof Used => name in nothingUsed;
const usedNames: readonly (keyof Used)[] = Object.keys(nothingUsed).filter(isUsedName);

/** What clients used, by the name of a period, `2026-01-31` or `2026-01`, and by client. */
type ClientUse = Readonly<Record<string, Readonly<Record<string, Used>>>>;

/** What is kept of clients' use after a batch of requests. */
export interface KeptUse {
  /** All that was used in the current day and month, in all processes: by the clients of the batch, or by all if it has no requests. */
  readonly all: ClientUse;
  /** What the batch has added to it. */
  readonly added: ClientUse;
}

/** What a process is told of it. `restates`: it is the one that gives a store of several machines all of it, if that has lost it. */
export interface ToldUse extends KeptUse {
  readonly restates: boolean;
}

/** Names a batch of requests, so that it is kept once: batches of a writer have growing numbers. */
export interface LineBatch {
  readonly writer: string;
  readonly n: number;
}

/** The name of the period that a time lies in. */
export const periodAt = (period: UsePeriod, atMs: number): string =>
  new Date(atMs).toISOString().slice(0, period === 'day' ? 'yyyy-mm-dd'.length : 'yyyy-mm'.length);

const dayMs = 86_400_000;

/** The names of a day's periods: requests that end in turn have the same. */
const periodNames = new BoundedMap<number, readonly string[]>(4);
const namesOf = (day: number): readonly string[] => [periodAt('day', day * dayMs), periodAt('month', day * dayMs)];

const periodsAt = (atMs: number): readonly string[] => periodNames.remember(Math.floor(atMs / dayMs), namesOf);

/** Clients of a period. A configuration has fewer, but it may change without end; the oldest gives way. */
const maxClients = 5_000;

/** Sums of what clients use. */
export class UseSums {
  /** By period, then by client. */
  readonly #sums = new Map<string, BoundedMap<string, Used>>();

  get isEmpty(): boolean {
    return this.#sums.size === 0;
  }

  of(period: string, client: string): Used {
    return this.#sums.get(period)?.get(client) ?? nothingUsed;
  }

  set(period: string, client: string, used: Used): void {
    const clients = this.#sums.get(period) ?? new BoundedMap<string, Used>(maxClients);
    this.#sums.set(period, clients);
    clients.set(client, used);
  }

  add(period: string, client: string, used: Partial<Used>): void {
    this.set(period, client, sumUse(this.of(period, client), used));
  }

  /** Adds to the day and the month that a time lies in. */
  addAt(atMs: number, client: string, used: Partial<Used>): void {
    for (const period of periodsAt(atMs)) this.add(period, client, used);
  }

  addEach(sums: UseSums): void {
    for (const one of sums) this.add(...one);
  }

  setAll(use: ClientUse): void {
    for (const [period, client, used] of eachOf(use)) this.set(period, client, used);
  }

  /** Takes away as much as there is. */
  takeAway(use: ClientUse): void {
    for (const [period, client, used] of eachOf(use)) {
      const before = this.of(period, client);
      const rest: Record<keyof Used, number> = { ...nothingUsed };
      for (const name of usedNames) rest[name] = Math.max(0, before[name] - used[name]);
      this.set(period, client, rest);
    }
  }

  /** Forgets all periods but the day and the month that a time lies in. */
  turn(atMs: number): void {
    const current = periodsAt(atMs);
    for (const period of this.#sums.keys()) if (!current.includes(period)) this.#sums.delete(period);
  }

  *[Symbol.iterator](): Generator<readonly [period: string, client: string, used: Used]> {
    for (const [period, clients] of this.#sums) for (const [client, used] of clients) yield [period, client, used];
  }

  /** The sums of the day and the month that a time lies in. */
  at(atMs: number): ClientUse {
    return Object.fromEntries(
      periodsAt(atMs).map((period) => [period, Object.fromEntries(this.#sums.get(period) ?? [])]),
    );
  }
}

export const sumUse = (one: Used, other: Partial<Used>): Used => {
  const sum: Record<keyof Used, number> = { ...one };
  for (const name of usedNames) sum[name] += other[name] ?? 0;
  return sum;
};

/** The use of a client in JSON; `undefined`: it has another form. The oldest versions counted no cost. */
export const usedOf = (value: Json | undefined): Used | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { requests, input, output, cost = 0, unpriced = 0 } = value;
  const counts = [requests, input, output, cost, unpriced];
  if (!counts.every((one) => typeof one === 'number' && Number.isSafeInteger(one) && one >= 0)) return undefined;
  const [requestCount = 0, ...others] = counts.map(Number);
  const [inputs = 0, outputs = 0, costs = 0, unpricedCount = 0] = others;
  return { requests: requestCount, input: inputs, output: outputs, cost: costs, unpriced: unpricedCount };
};

const eachOf = function* (use: ClientUse): Generator<readonly [period: string, client: string, used: Used]> {
  for (const [period, clients] of Object.entries(use))
    for (const [client, used] of Object.entries(clients)) yield [period, client, used];
};

/** How long sums are kept after their month, in milliseconds. */
const keptMs = 400 * 86_400_000;

/** How long a writer's last batch is remembered, in milliseconds: it tries again until it ends. */
const writerMs = 7 * 86_400_000;

/** The sums of clients by period, and the last batch of each writer; `at` in milliseconds since 1970. */
export const createClientUse = `
CREATE TABLE client_use (
  period TEXT NOT NULL,
  client TEXT NOT NULL,
  ${usedNames.map((name) => `${name} INTEGER NOT NULL`).join(',\n  ')},
  PRIMARY KEY (period, client)
) WITHOUT ROWID;
CREATE TABLE writers (name TEXT PRIMARY KEY, batch INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
`;

/** The use of clients in a database, within the transactions of its user. */
export class ClientUseTable {
  readonly #db: Database;
  readonly #put: Statement;
  readonly #find: Statement;
  readonly #putBatch: Statement;

  constructor(db: Database) {
    this.#db = db;
    this.#put = db.prepare(
      `INSERT INTO client_use VALUES (?, ?, ${usedNames.map(() => '?').join(', ')}) ON CONFLICT DO UPDATE SET ${usedNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
    );
    this.#find = db.prepare('SELECT * FROM client_use WHERE period IN (?, ?)');
    this.#putBatch = db.prepare(
      'INSERT INTO writers VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET batch = excluded.batch, at = excluded.at WHERE batch < excluded.batch',
    );
  }

  add(sums: Iterable<readonly [period: string, client: string, used: Used]>): void {
    for (const [period, client, used] of sums) this.#put.run(period, client, ...usedNames.map((name) => used[name]));
  }

  /** Of the day and the month that a time lies in; `clients`: of these alone. */
  at(atMs: number, clients?: ReadonlySet<string>): ClientUse {
    const sums = new UseSums();
    const [day = '', month = ''] = periodsAt(atMs);
    for (const row of this.#find.all(day, month)) {
      if (!clients || clients.has(String(row.client))) sums.set(String(row.period), String(row.client), rowUse(row));
    }
    return sums.at(atMs);
  }

  /** Whether a batch comes for the first time; from now on it doesn't. */
  isNew({ writer, n }: LineBatch, atMs: number): boolean {
    return Number(this.#putBatch.run(writer, n, atMs).changes) > 0;
  }

  /** Removes what is too old at a time. */
  prune(nowMs: number): void {
    this.#db.prepare('DELETE FROM client_use WHERE period < ?').run(periodAt('month', nowMs - keptMs));
    this.#db.prepare('DELETE FROM writers WHERE at < ?').run(nowMs - writerMs);
  }
}

const rowUse = (row: SqlRow): Used => {
  const used: Record<keyof Used, number> = { ...nothingUsed };
  for (const name of usedNames) used[name] = Number(row[name] ?? 0);
  return used;
};

/** All sums that a database has. */
export const clientUseIn = (db: Database): UseSums => {
  const sums = new UseSums();
  for (const row of db.prepare('SELECT * FROM client_use').all())
    sums.set(String(row.period), String(row.client), rowUse(row));
  return sums;
};
