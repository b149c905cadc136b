import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../../model/fault.ts';
import { readLines } from '../../observe/log/read-lines.ts';
import { archivesIn, hourFilesIn, readUsageRecord, type UsageRecord, wholeHour } from './bucket-files.ts';
import { bucketOf, nameLength } from './buckets.ts';
import type { UsageQuery, UsageRow } from './schema.ts';

/** The start of the name in a line, up to which nothing has to be parsed: `{"id":"2026-01-31T08.`. */
const nameAt = '{"id":"'.length;

/** Calls `visit` for each row of the buckets that begin in the span, the last one excluded, in no particular order. */
export const readBuckets = async (
  folder: string,
  { fromMs, toMs, unit }: Pick<UsageQuery, 'fromMs' | 'toMs' | 'unit'>,
  visit: (bucket: string, row: UsageRow) => void,
): Promise<void> => {
  const [first, last] = [bucketOf(unit, fromMs), bucketOf(unit, toMs - 1)];
  /** Whether it may have buckets of the span: a bucket, or its hour, day or month. */
  const isAsked = (time: string): boolean => time >= first.slice(0, time.length) && time <= last.slice(0, time.length);
  const names = await readdir(folder).catch(ifMissing([]));
  // Before the archives: what is moved there meanwhile is found there.
  const open: UsageRecord[] = [];
  for (const { name, hour } of hourFilesIn(names)) {
    // Steps are written once they are over.
    if (unit === '5s' || !isAsked(hour)) continue;
    const record = readUsageRecord(await readFile(join(folder, name), 'utf8').catch(ifMissing('')));
    const part = record && (unit === 'hour' ? wholeHour(record) : record.minute);
    if (part) open.push(part);
  }
  const counted = new Set<string>();
  const take = ({ id, rows }: Pick<UsageRecord, 'id' | 'rows'>): void => {
    const bucket = id.slice(0, nameLength[unit]);
    if (counted.has(id) || !isAsked(bucket)) return;
    counted.add(id);
    for (const row of rows) visit(bucket, row);
  };
  for (const { name, time, unit: archived } of archivesIn(await readdir(folder).catch(ifMissing([])))) {
    if (archived !== unit || !isAsked(time)) continue;
    for await (const line of linesOf(join(folder, name))) {
      if (!isAsked(line.slice(nameAt, nameAt + nameLength[unit]))) continue;
      const record = readUsageRecord(line);
      if (record) take(record);
    }
  }
  for (const record of open) take(record);
};

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await open(path).catch(ifMissing(undefined));
  if (!file) return;
  try {
    for await (const lines of readLines(file, { from: 0, to: (await file.stat()).size })) yield* lines;
  } finally {
    await file.close();
  }
}
