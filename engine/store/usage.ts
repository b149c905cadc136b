import { isJsonObject, type JsonObject, parseJson } from '../model/json/json.ts';
import { BoundedMap } from '../runtime/memoize.ts';
import type { Database, SqlRow, Statement } from './sqlite.ts';
import { TimeScale } from './time-scale.ts';

/** What is counted together, by its length in milliseconds. */
export const unitMs = { '5s': 5_000, minute: 60_000, hour: 3_600_000 } as const;
export type UsageUnit = keyof typeof unitMs;

const dayMs = 86_400_000;

/** How long each is kept, in milliseconds. */
export const unitKeptMs = { '5s': 3_600_000, minute: 2 * dayMs, hour: 400 * dayMs } as const satisfies Record<
  UsageUnit,
  number
>;

const units: readonly UsageUnit[] = ['5s', 'minute', 'hour'];

/** Sums of requests. */
export const noUsage = {
  requests: 0,
  errors: 0,
  retries: 0,
  losses: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
  cost: 0,
  unpriced: 0,
  saved: 0,
  uncompared: 0,
  uncounted: 0,
};
export type Sums = typeof noUsage;

const isSum = (name: string): name is keyof Sums => name in noUsage;
const sumNames: readonly (keyof Sums)[] = Object.keys(noUsage).filter(isSum);

/** How many requests took how long, by class of `usageScale`. */
export type Times = Readonly<Record<'firstByte' | 'duration' | 'overhead', Record<string, number>>>;

/** Of the times of requests: from 0.1 ms to 10,000 s. */
export const usageScale = new TimeScale(0.1, 20, 8);

export const noTimes = (): Times => ({ firstByte: {}, duration: {}, overhead: {} });

/** What requests are counted by; an empty text is none. */
export interface Series {
  readonly protocol: string;
  readonly scenario: string;
  readonly provider: string;
  readonly model: string;
  readonly client: string;
}

/** Requests of one series. */
export interface Counted {
  readonly sums: Partial<Sums>;
  readonly times: Times | undefined;
}

/** One request of a series; its times are in milliseconds, as far as they are known. */
export interface CountedRequest {
  readonly sums: Partial<Sums>;
  readonly times: Readonly<Record<keyof Times, number | undefined>>;
}

/** Adds sums to others. */
export const addSums = (to: Sums, from: Partial<Sums>): void => {
  for (const name of sumNames) to[name] += from[name] ?? 0;
};

/** Adds times to others. */
export const addTimes = (to: Times, from: Times): void => {
  let name: keyof Times;
  for (name in to) {
    for (const [timeClass, count] of Object.entries(from[name]))
      to[name][timeClass] = (to[name][timeClass] ?? 0) + count;
  }
};

/** The name for what is summed up beyond a bound. */
export const otherName = 'other';

/** Rows of a unit of time with names of their own; what comes beyond is summed up by protocol and client. */
const maxRows = 1_000;

/** Units of time whose rows are counted, and series whose ids are known, without asking. */
const maxKnown = 5_000;

/** Series beyond which those without sums are removed: the names of models may come from clients. */
const manySeries = 20_000;

/** Tables of the sums by unit of time, by `unit` in milliseconds and `at`, their beginning in milliseconds since 1970. */
export const createUsage = `
CREATE TABLE series (id INTEGER PRIMARY KEY AUTOINCREMENT, names TEXT NOT NULL UNIQUE);
CREATE TABLE usage (
  unit INTEGER NOT NULL,
  at INTEGER NOT NULL,
  series INTEGER NOT NULL,
  ${sumNames.map((name) => `${name} INTEGER NOT NULL`).join(',\n  ')},
  times TEXT NOT NULL,
  PRIMARY KEY (unit, at, series)
) WITHOUT ROWID;
`;

interface Cell {
  readonly unit: UsageUnit;
  readonly at: number;
  readonly series: number;
  readonly sums: Sums;
  readonly times: Times;
}

/** Adds to the sums in a database, within the transactions of its user. */
export class UsageTable {
  readonly #db: Database;
  readonly #find: Statement;
  readonly #put: Statement;
  readonly #ids = new BoundedMap<string, number>(maxKnown);
  /** Most requests are of the series of the one before. */
  #last: { readonly series: Series; readonly id: number } | undefined;
  readonly #rows = new BoundedMap<string, number>(maxKnown);
  /** What `write` adds to. */
  readonly #cells = new Map<string, Cell>();
  /** What has been added to the shortest unit, and isn't yet to the longer ones. */
  readonly #added = new Map<string, Cell>();

  constructor(db: Database) {
    this.#db = db;
    this.#find = db.prepare('SELECT * FROM usage WHERE unit = ? AND at = ? AND series = ?');
    this.#put = db.prepare(
      `INSERT OR REPLACE INTO usage (unit, at, series, ${sumNames.join(', ')}, times) VALUES (?, ?, ?, ${sumNames.map(() => '?').join(', ')}, ?)`,
    );
  }

  /** Adds a request to all units that its end lies in. `write` follows. */
  addAt(atMs: number, series: Series, { sums, times }: CountedRequest): void {
    const cell = cellIn(this.#added, '5s', atMs, this.#idOf(series));
    addSums(cell.sums, sums);
    let name: keyof Times;
    for (name in cell.times) addTime(cell.times[name], times[name]);
  }

  /** Adds to the unit that begins at a time. `write` follows. */
  add(unit: UsageUnit, at: number, series: Series, counted: Counted): void {
    addTo(this.#cells, unit, at, this.#idOf(series), counted);
  }

  write(): void {
    for (const cell of this.#added.values()) {
      for (const unit of units) addTo(this.#cells, unit, cell.at, cell.series, cell);
    }
    this.#added.clear();
    const find = this.#find;
    const cells = [...this.#cells.values()];
    this.#cells.clear();
    for (const { unit, at, series, sums, times } of cells) {
      const own = find.get(unitMs[unit], at, series);
      const into = own || this.#hasRoom(unit, at) ? series : this.#idOf(this.#otherOf(series));
      const known = into === series ? own : find.get(unitMs[unit], at, into);
      if (known) {
        addSums(sums, sumsIn(known));
        addTimes(times, timesIn(known.times));
      }
      this.#put.run(unitMs[unit], at, into, ...sumNames.map((name) => sums[name]), JSON.stringify(times));
    }
  }

  /** Forgets what a transaction that was rolled back has added. */
  forget(): void {
    this.#cells.clear();
    this.#added.clear();
    this.#forgetIds();
    this.#rows.clear();
  }

  /** Removes what is too old at a time. */
  prune(nowMs: number): void {
    for (const unit of units) {
      this.#db
        .prepare('DELETE FROM usage WHERE unit = ? AND at < ?')
        .run(unitMs[unit], nowMs - unitKeptMs[unit] - unitMs[unit]);
    }
    const { count } = this.#db.prepare('SELECT COUNT(*) AS count FROM series').get() ?? {};
    if (Number(count) <= manySeries) return;
    this.#db.exec('DELETE FROM series WHERE id NOT IN (SELECT series FROM usage)');
    this.#forgetIds();
  }

  #forgetIds(): void {
    this.#ids.clear();
    this.#last = undefined;
  }

  #idOf(series: Series): number {
    const last = this.#last;
    if (last && isSame(last.series, series)) return last.id;
    const id = this.#ids.remember(JSON.stringify(seriesNames.map((name) => series[name])), this.#keptId);
    this.#last = { series, id };
    return id;
  }

  readonly #keptId = (names: string): number => {
    this.#db.prepare('INSERT OR IGNORE INTO series (names) VALUES (?)').run(names);
    return Number(this.#db.prepare('SELECT id FROM series WHERE names = ?').get(names)?.id);
  };

  #otherOf(id: number): Series {
    const { protocol, client } = seriesIn(this.#db.prepare('SELECT names FROM series WHERE id = ?').get(id)?.names);
    return { protocol, scenario: otherName, provider: otherName, model: otherName, client };
  }

  /** Counts a row that is new. */
  #hasRoom(unit: UsageUnit, at: number): boolean {
    const key = `${unit} ${at}`;
    const rows = this.#rows.get(key) ?? this.#countRows(unit, at);
    this.#rows.set(key, rows + 1);
    return rows < maxRows;
  }

  #countRows(unit: UsageUnit, at: number): number {
    const count = this.#db.prepare('SELECT COUNT(*) AS count FROM usage WHERE unit = ? AND at = ?');
    return Number(count.get(unitMs[unit], at)?.count);
  }
}

/** In the order in which a series' row has its names. */
const seriesNames = [
  'protocol',
  'scenario',
  'provider',
  'model',
  'client',
] as const satisfies readonly (keyof Series)[];

const isSame = (one: Series, other: Series): boolean => {
  for (const name of seriesNames) if (one[name] !== other[name]) return false;
  return true;
};

/** Adds to the cell of the unit that a time lies in. */
const addTo = (cells: Map<string, Cell>, unit: UsageUnit, atMs: number, series: number, counted: Counted): void => {
  const cell = cellIn(cells, unit, atMs, series);
  addSums(cell.sums, counted.sums);
  if (counted.times) addTimes(cell.times, counted.times);
};

/** The cell of the unit that a time lies in. */
const cellIn = (cells: Map<string, Cell>, unit: UsageUnit, atMs: number, series: number): Cell => {
  const at = Math.floor(atMs / unitMs[unit]) * unitMs[unit];
  const key = `${unit} ${at} ${series}`;
  let cell = cells.get(key);
  if (!cell) {
    cell = { unit, at, series, sums: { ...noUsage }, times: noTimes() };
    cells.set(key, cell);
  }
  return cell;
};

const addTime = (counts: Record<string, number>, ms: number | undefined): void => {
  if (ms === undefined) return;
  const timeClass = usageScale.classOf(ms);
  counts[timeClass] = (counts[timeClass] ?? 0) + 1;
};

/** The sums of a row. */
export const sumsIn = (row: SqlRow): Sums => {
  const sums = { ...noUsage };
  for (const name of sumNames) sums[name] = Number(row[name] ?? 0);
  return sums;
};

/** The times of a row. */
export const timesIn = (text: unknown): Times => {
  const value = parseJson(String(text));
  return timesOf(isJsonObject(value) ? value : {});
};

/** Times of JSON; what isn't a count is left out. */
export const timesOf = (value: JsonObject): Times => {
  const times = noTimes();
  let name: keyof Times;
  for (name in times) {
    const classes = value[name];
    for (const [timeClass, count] of Object.entries(isJsonObject(classes) ? classes : {})) {
      if (typeof count === 'number' && count >= 0) times[name][timeClass] = count;
    }
  }
  return times;
};

/** The names of a series as its row has them. */
export const seriesIn = (names: unknown): Series => {
  const value = parseJson(String(names));
  const [protocol = '', scenario = '', provider = '', model = '', client = ''] = Array.isArray(value)
    ? value.map(String)
    : [];
  return { protocol, scenario, provider, model, client };
};
