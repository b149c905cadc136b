import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLines } from '../../log/read-lines.ts';
import { ifMissing } from '../../model/fault.ts';
import { type HourRecord, hourFilesIn, monthFilesIn, readHourRecord } from './hour-files.ts';
import { hourOf, monthOf } from './hours.ts';
import type { UsageRow } from './schema.ts';

/** A span of hours; the last one excluded. */
interface HourSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The start of the line of an hour, up to which nothing has to be parsed: `{"id":"2026-01-31T08.`. */
const hourAt = '{"id":"'.length;

/** Calls `visit` for each row of the hours that begin in the span, in no particular order. */
export const readHours = async (
  folder: string,
  { fromMs, toMs }: HourSpan,
  visit: (hour: string, row: UsageRow) => void,
): Promise<void> => {
  const [first, last] = [hourOf(fromMs), hourOf(toMs - 1)];
  const isAsked = (hour: string): boolean => hour >= first && hour <= last;
  const names = await readdir(folder).catch(ifMissing([]));
  // Before the months: what is moved there meanwhile is found there.
  const open: HourRecord[] = [];
  for (const { name, hour } of hourFilesIn(names)) {
    if (!isAsked(hour)) continue;
    const record = readHourRecord(await readFile(join(folder, name), 'utf8').catch(ifMissing('')));
    if (record) open.push(record);
  }
  const counted = new Set<string>();
  const take = ({ id, rows }: HourRecord): void => {
    if (counted.has(id)) return;
    counted.add(id);
    const hour = id.slice(0, first.length);
    for (const row of rows) visit(hour, row);
  };
  const isMonthAsked = (month: string): boolean => month >= monthOf(first) && month <= monthOf(last);
  for (const { name, month } of monthFilesIn(await readdir(folder).catch(ifMissing([])))) {
    if (!isMonthAsked(month)) continue;
    for await (const line of linesOf(join(folder, name))) {
      if (!isAsked(line.slice(hourAt, hourAt + first.length))) continue;
      const record = readHourRecord(line);
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
