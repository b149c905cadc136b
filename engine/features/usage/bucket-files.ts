import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { writeAtomically } from '../../config/write-atomically.ts';
import { ifMissing } from '../../model/fault.ts';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import { FileWork } from '../../observe/log/file-work.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import {
  bucketOf,
  bucketStartMs,
  currentOf,
  dayOf,
  floorTo,
  hourOf,
  monthOf,
  nameLength,
  UsageBucket,
} from './buckets.ts';
import { UsageRow, type UsageUnit } from './schema.ts';

/*
 * The folder has four kinds of files. `2026-01-31T08.<pid>-<start>.json` is what the service has counted in an hour, its current minute
 * apart; the process of this number writes the file, as a whole. Three kinds are archives, with a line for each bucket that has ended,
 * under the name of its process: `2026-01-31T08.jsonl` has an hour's steps of 5 seconds, `2026-01-31.jsonl` a day's minutes, `2026-01.jsonl` a month's
 * hours. The hour's file has a minute before the day's file does, and is rewritten or removed after a line is added. So after a kill both
 * may have it, or there may be two lines: what has the same name counts once.
 */

/** The folder of the usage by hours, in the service's own. */
export const usageFolder = (home: string): string => join(home, 'usage', 'hours');

const counted = { id: Type.String(), rows: Type.Array(UsageRow) };

/** A process's file of an hour, or the line of an hour or minute. `minute`: what `rows` don't have yet. */
export const UsageRecord = Type.Object({ ...counted, minute: Type.Optional(Type.Object(counted)) });
export type UsageRecord = Static<typeof UsageRecord>;

const recordReader = reader(UsageRecord);

/** Reads a record; `undefined` for anything else. */
export const readUsageRecord = (text: string): UsageRecord | undefined => {
  const value: unknown = parseJson(text);
  return recordReader.matches(value) ? value : undefined;
};

/** The record of an hour with its last minute added. */
export const wholeHour = ({ id, rows, minute }: UsageRecord): UsageRecord => {
  if (!minute) return { id, rows };
  const whole = new UsageBucket('hour', bucketStartMs(hourOf(id))).fold(rows).fold(minute.rows);
  return { id, rows: [...whole.rows] };
};

/** A process's file of an hour. */
interface HourFile {
  readonly name: string;
  /** The name without its ending. */
  readonly id: string;
  readonly hour: string;
}

const hourName = /^((\d{4}-\d\d-\d\dT\d\d)\.\d{1,10}-\d{1,16})\.json(\..{1,64}\.tmp)?$/;
const archiveName = /^(\d{4}-\d\d(?:-(\d\d)(?:T(\d\d))?)?)\.jsonl$/;

/** The files of hours in a folder. `isDraft`: those that are being written, or were when their process was killed. */
export const hourFilesIn = (names: readonly string[], isDraft = false): readonly HourFile[] =>
  names.flatMap((name) => {
    const [, id, hour, draft] = hourName.exec(name) ?? [];
    if (id === undefined || hour === undefined || (draft !== undefined) !== isDraft) return [];
    return Number.isNaN(bucketStartMs(hour)) ? [] : [{ name, id, hour }];
  });

/** A file of what is over: an hour's steps, a day's minutes or a month's hours. */
interface Archive {
  readonly name: string;
  /** The hour, day or month: `2026-01-31T08`, `2026-01-31`, `2026-01`. */
  readonly time: string;
  readonly unit: UsageUnit;
}

/** The archives in a folder. */
export const archivesIn = (names: readonly string[]): readonly Archive[] =>
  names.flatMap((name) => {
    const [, time, day, hour] = archiveName.exec(name) ?? [];
    if (time === undefined) return [];
    return [{ name, time, unit: day === undefined ? 'hour' : hour === undefined ? 'minute' : '5s' }];
  });

/** How long hours are kept, in milliseconds; whole months are removed. */
const keptMs = 400 * 86_400_000;

/** How long minutes are kept, in milliseconds; whole days are removed. */
export const minutesKeptMs = 2 * 86_400_000;

/** How long steps of 5 seconds are kept, in milliseconds; whole hours are removed. */
export const stepsKeptMs = 3_600_000;

/** Size of a file of steps or minutes from which on these have no names other than protocols. */
const maxNamedBytes = { '5s': 20_000_000, minute: 100_000_000 };

/** Hours, minutes and steps that are kept in memory while they can't be written. */
const maxUnwrittenHours = 48;
const maxUnwrittenMinutes = 60;
const maxUnwrittenSteps = 24;

/** Keeps the counts of all processes. */
export interface UsageKeeper {
  /** Adds what a process has counted in the step of 5 seconds that begins at this time, in milliseconds since 1970. */
  readonly take: (stepMs: number, rows: readonly UsageRow[]) => Promise<void>;
}

interface UsageFilesOptions {
  readonly folder: string;
  readonly log: Pick<AppLog, 'warn'>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** How long after a step's end its counts may still come, in milliseconds. */
  readonly lateMs: () => number;
  /** The process that writes; absent: this one. */
  readonly process?: { readonly pid: number; readonly startedAtMs: number };
  /** Size of a file of steps or minutes, in bytes, from which on names are left out. */
  readonly maxNamedBytes?: number;
}

interface OwnHour {
  /** Its minutes that are over. */
  readonly counted: UsageBucket;
  /** Its requests that are written. */
  written: number;
  /** The minute that is written apart. */
  minute: string | undefined;
}

/** The files of the usage by steps of 5 seconds, minutes and hours. One process of the service writes them. */
export class UsageFiles implements UsageKeeper {
  readonly #options: UsageFilesOptions;
  readonly #id: string;
  /** The steps that aren't written yet; the last one may go on. */
  #steps: UsageBucket[] = [];
  /** Those of them that are counted in their minutes: the others go on. */
  readonly #folded = new WeakSet<UsageBucket>();
  /** The minutes that aren't in their hours yet; the last one may go on. They lack the step that goes on. */
  #minutes: UsageBucket[] = [];
  /** The hours that aren't in a month's file yet; the last one may go on. */
  #hours: OwnHour[] = [];
  #latestMs = 0;
  /** Steps that begin before this time are over. */
  #openMs = 0;
  readonly #work: FileWork;
  #running: Promise<void> = Promise.resolve();

  constructor(options: UsageFilesOptions) {
    this.#options = options;
    this.#work = new FileWork(
      options.log,
      options.folder,
      "usage can't be kept on disk; a restart forgets what isn't written",
    );
    const { pid, startedAtMs } = options.process ?? { pid: process.pid, startedAtMs: Date.now() };
    this.#id = `${pid}-${startedAtMs}`;
  }

  /** Late counts go to the next step. */
  async take(stepMs: number, rows: readonly UsageRow[]): Promise<void> {
    stepAt(this.#steps, Math.max(stepMs, this.#openMs)).fold(rows);
    if (this.#steps.length <= maxUnwrittenSteps) return;
    this.#foldSteps(this.#nowMs());
    this.#steps.shift();
  }

  /** Adds the steps that are over to their minutes. */
  #foldSteps(nowMs: number): void {
    this.#openMs = Math.max(this.#openMs, floorTo('5s', nowMs));
    for (const step of this.#steps) {
      if (!step.hasEnded(nowMs) || this.#folded.has(step)) continue;
      this.#folded.add(step);
      currentOf(this.#minutes, 'minute', bucketStartMs(step.name)).fold(step.rows);
      if (this.#minutes.length > maxUnwrittenMinutes) this.#fold();
    }
  }

  /** The minutes that aren't in their hours, oldest first, with the steps that aren't in them: those may still get late counts. */
  #openMinutes(): readonly UsageBucket[] {
    const open = new Map<string, UsageBucket>();
    const add = ({ name, rows }: UsageBucket): void => {
      const minute = new UsageBucket('minute', bucketStartMs(name));
      open.set(minute.name, (open.get(minute.name) ?? minute).fold(rows));
    };
    for (const minute of this.#minutes) add(minute);
    for (const step of this.#steps) if (!this.#folded.has(step)) add(step);
    return [...open.values()];
  }

  /** Whether there is something to write. */
  isDue(): boolean {
    if (this.#minutes.length > 0 || this.#steps.length > 0) return true;
    const nowMs = this.#nowMs();
    return this.#hours.some(({ counted, written }) => counted.requests !== written || counted.hasEnded(nowMs));
  }

  /** Writes changed buckets and archives finished ones. Never rejects. */
  write(): Promise<void> {
    return this.#inTurn(async () => {
      const nowMs = this.#nowMs();
      this.#foldSteps(nowMs);
      await this.#endMinutes(nowMs);
      const open = this.#openMinutes();
      for (const minute of open) this.#hourOf(minute);
      let isTurning = false;
      for (const own of [...this.#hours]) {
        await this.#writeHour(own, ...open.filter(({ name }) => hourOf(name) === own.counted.name));
        if (!own.counted.hasEnded(nowMs)) continue;
        const { name: hour } = own.counted;
        await this.#archive({ name: `${hour}.${this.#id}.json`, hour });
        this.#hours = this.#hours.filter((other) => other !== own);
        isTurning = true;
      }
      await this.#endSteps(nowMs);
      if (isTurning) await this.#tidy();
    });
  }

  /** Writes what is left, the step that isn't over too: another process counts the rest of it. Never rejects. */
  async close(): Promise<void> {
    this.#foldSteps(Number.POSITIVE_INFINITY);
    await this.#inTurn(() => this.#endSteps(Number.POSITIVE_INFINITY));
    await this.write();
  }

  /** One task after the other. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#running = this.#running.then(() => this.#work.run(work));
    return this.#running;
  }

  /** The time up to which all is counted. It doesn't go back when the clock does: what has been archived gets nothing more. */
  #nowMs(): number {
    this.#latestMs = Math.max(this.#latestMs, this.#options.nowMs() - this.#options.lateMs());
    return this.#latestMs;
  }

  /** Moves the steps that are over to their hours' files. */
  async #endSteps(nowMs: number): Promise<void> {
    for (let step = this.#steps[0]; step?.hasEnded(nowMs); step = this.#steps[0]) {
      await this.#append('5s', hourOf(step.name), this.#recordOf(step));
      if (this.#steps[0] === step) this.#steps.shift();
    }
  }

  /** Moves the minutes that are over to their days and hours. */
  async #endMinutes(nowMs: number): Promise<void> {
    for (let minute = this.#minutes[0]; minute?.hasEnded(nowMs); minute = this.#minutes[0]) {
      // First, so that a kill leaves no minute that its hour lacks.
      await this.#writeHour(this.#hourOf(minute), minute);
      await this.#append('minute', dayOf(minute.name), this.#recordOf(minute));
      // Unless there were too many meanwhile.
      if (this.#minutes[0] === minute) this.#fold();
    }
  }

  /** Adds the oldest minute to its hour. */
  #fold(): void {
    const minute = this.#minutes.shift();
    if (minute) this.#hourOf(minute).counted.fold(minute.rows);
  }

  #hourOf({ name }: UsageBucket): OwnHour {
    const hour = hourOf(name);
    const known = this.#hours.find(({ counted }) => counted.name === hour);
    if (known) return known;
    const own = { counted: new UsageBucket('hour', bucketStartMs(hour)), written: 0, minute: undefined };
    this.#hours.push(own);
    if (this.#hours.length > maxUnwrittenHours) this.#hours.shift();
    return own;
  }

  #recordOf({ name, rows }: UsageBucket): UsageRecord {
    return { id: `${name}.${this.#id}`, rows: [...rows] };
  }

  /** `minute`: the oldest one of the hour that may get counts. The file has `later` ones among the hour's until they are the oldest. */
  async #writeHour(own: OwnHour, minute?: UsageBucket, ...later: readonly UsageBucket[]): Promise<void> {
    const open = minute ? [minute, ...later] : later;
    const requests = open.reduce((sum, one) => sum + one.requests, own.counted.requests);
    if (requests === own.written && (minute === undefined || minute.name === own.minute)) return;
    const counted = new UsageBucket('hour', bucketStartMs(own.counted.name)).fold(own.counted.rows);
    for (const { rows } of later) counted.fold(rows);
    const record = { ...this.#recordOf(counted), ...(minute && { minute: this.#recordOf(minute) }) };
    await writeAtomically(join(this.#options.folder, `${record.id}.json`), JSON.stringify(record));
    own.written = requests;
    own.minute = minute?.name;
  }

  /** Moves what earlier processes have left to the archives, and removes what is too old. Never rejects. */
  tidy(): Promise<void> {
    return this.#inTurn(() => this.#tidy());
  }

  async #tidy(): Promise<void> {
    const { folder } = this.#options;
    const nowMs = this.#nowMs();
    const names = await readdir(folder).catch(ifMissing([]));
    const current = bucketOf('hour', nowMs);
    for (const file of hourFilesIn(names)) {
      if (file.hour < current && !this.#isOwn(file)) await this.#archive(file);
    }
    for (const { name } of hourFilesIn(names, true)) await rm(join(folder, name), { force: true });
    const oldest = {
      '5s': bucketOf('hour', nowMs - stepsKeptMs),
      minute: dayOf(bucketOf('minute', nowMs - minutesKeptMs)),
      hour: monthOf(bucketOf('hour', nowMs - keptMs)),
    };
    for (const { name, time, unit } of archivesIn(names)) {
      if (time < oldest[unit]) await rm(join(folder, name), { force: true });
    }
  }

  /** Adds an hour's file to that of its month, and its last minute to that of its day, then removes the file. */
  async #archive({ name, hour }: Pick<HourFile, 'name' | 'hour'>): Promise<void> {
    const { folder, log } = this.#options;
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(ifMissing(undefined));
    if (text === undefined) return;
    const record = readUsageRecord(text);
    if (!record) {
      log.warn('a file of usage is ignored: it has another form', { file: path });
      return;
    }
    if (record.minute) await this.#append('minute', dayOf(record.minute.id), record.minute);
    await appendLine(join(folder, `${monthOf(hour)}.jsonl`), JSON.stringify(wholeHour(record)));
    await rm(path, { force: true });
  }

  /** Adds a line to the archive of a time: without names, if it is full. */
  async #append(unit: keyof typeof maxNamedBytes, time: string, { id, rows }: UsageRecord): Promise<void> {
    const path = join(this.#options.folder, `${time}.jsonl`);
    const bytes = (await stat(path).catch(ifMissing(undefined)))?.size ?? 0;
    const isFull = bytes >= (this.#options.maxNamedBytes ?? maxNamedBytes[unit]);
    const kept = isFull ? new UsageBucket(unit, bucketStartMs(id.slice(0, nameLength[unit])), 0).fold(rows).rows : rows;
    await appendLine(path, JSON.stringify({ id, rows: kept }));
  }

  #isOwn({ id }: HourFile): boolean {
    return id.endsWith(`.${this.#id}`);
  }
}

/** The step of a list that begins at a time, or a new one in its place. */
const stepAt = (steps: UsageBucket[], stepMs: number): UsageBucket => {
  const name = bucketOf('5s', stepMs);
  const known = steps.find((one) => one.name === name);
  if (known) return known;
  const next = new UsageBucket('5s', stepMs);
  const later = steps.findIndex((one) => one.name > name);
  steps.splice(later < 0 ? steps.length : later, 0, next);
  return next;
};

/** Adds a line with a write of its own. It begins with a line feed too: the last write may have been cut off by a kill. */
const appendLine = async (path: string, line: string): Promise<void> => {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a', 0o600);
  try {
    await file.writeFile(`\n${line}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
};
