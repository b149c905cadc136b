import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../model/json/json.ts';
import { type Counted, noUsage, type Series, type Sums, timesOf, type UsageTable, type UsageUnit } from './usage.ts';

/*
 * The files of usage of versions before the store. `2026-01-31T08.<pid>-<start>.json` is an hour, its current minute apart; three kinds
 * have a line for each unit of time: `2026-01-31T08.jsonl` an hour's steps of 5 seconds, `2026-01-31.jsonl` a day's minutes,
 * `2026-01.jsonl` a month's hours. A kill may have left the same hour or minute in two of them: what has the same id counts once.
 */

const hourName = /^\d{4}-\d\d-\d\dT\d\d\.\d{1,10}-\d{1,16}\.json(\..{1,64}\.tmp)?$/;
const archiveName = /^\d{4}-\d\d(?:-(\d\d)(?:T(\d\d))?)?\.jsonl$/;

/** The names of an earlier version's files in a folder, in the order in which they are read. */
export const olderUsageIn = (folder: string): readonly string[] => {
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  return [...names.filter((name) => archiveName.test(name)), ...names.filter((name) => hourName.test(name))];
};

/** Adds what a file has. `isNew`: whether a unit of this id hasn't been added before; it is from then on. */
export const addOlderUsage = (
  folder: string,
  name: string,
  table: UsageTable,
  isNew: (id: string) => boolean,
): void => {
  const [archive, day, hour] = archiveName.exec(name) ?? [];
  if (name.endsWith('.tmp')) return;
  const unit: UsageUnit = archive === undefined || day === undefined ? 'hour' : hour === undefined ? 'minute' : '5s';
  for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
    const record = recordOf(parseJson(line));
    if (!record) continue;
    const minute = recordOf(record.minute);
    // An hour's rows lack the minute that is apart.
    if (isNew(`${unit} ${record.id}`)) {
      addRows(table, unit, record);
      if (minute) addRows(table, unit, { ...minute, id: record.id });
    }
    if (minute && isNew(`minute ${minute.id}`)) addRows(table, 'minute', minute);
  }
};

interface OlderRecord {
  readonly id: string;
  readonly rows: readonly JsonObject[];
  readonly minute: Json | undefined;
}

const recordOf = (value: Json | undefined): OlderRecord | undefined =>
  isJsonObject(value) && typeof value.id === 'string' && Array.isArray(value.rows)
    ? { id: value.id, rows: value.rows.filter(isJsonObject), minute: value.minute }
    : undefined;

/** The length of a unit's name at the beginning of an id. */
const nameLength = {
  '5s': 'yyyy-mm-ddThh:mm:ss'.length,
  minute: 'yyyy-mm-ddThh:mm'.length,
  hour: 'yyyy-mm-ddThh'.length,
} as const satisfies Record<UsageUnit, number>;

const addRows = (table: UsageTable, unit: UsageUnit, { id, rows }: OlderRecord): void => {
  const name = id.slice(0, nameLength[unit]);
  const at = Date.parse(unit === 'hour' ? `${name}:00Z` : `${name}Z`);
  if (Number.isNaN(at)) return;
  for (const row of rows) table.add(unit, at, seriesOf(row), countedOf(row));
};

const seriesOf = ({ protocol, scenario, provider, model, client }: JsonObject): Series => ({
  protocol: String(protocol ?? ''),
  scenario: String(scenario ?? ''),
  provider: String(provider ?? ''),
  model: String(model ?? ''),
  client: String(client ?? ''),
});

const countedOf = (row: JsonObject): Counted => {
  const sums: Sums = { ...noUsage };
  let name: keyof Sums;
  for (name in sums) {
    const value = row[name];
    if (typeof value === 'number' && Number.isSafeInteger(value)) sums[name] = value;
  }
  return { sums, times: isJsonObject(row.times) ? timesOf(row.times) : undefined };
};
