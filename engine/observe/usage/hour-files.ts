import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { writeAtomically } from '../../config/write-atomically.ts';
import { FileWork } from '../../log/file-work.ts';
import type { AppLog } from '../../log/logs.ts';
import { ifMissing } from '../../model/fault.ts';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import { type CountedRequest, hourOf, hourStartMs, monthOf, UsageHour } from './hours.ts';
import { UsageRow } from './schema.ts';

/*
 * The folder has two kinds of files. `2026-01-31T08.<pid>-<start>.json` is what one process has counted in an hour; it alone writes
 * the file, as a whole. `2026-01.jsonl` has a month's hours that are over: a line each, with the name of the file that it was. A line
 * is added before its file is removed, so both may be there, or two lines, after a kill: what has the same name counts once.
 */

/** The folder of the usage by hours, in the service's own. */
export const usageFolder = (home: string): string => join(home, 'usage', 'hours');

/** A process's file of an hour, and its line in the month's file. */
export const HourRecord = Type.Object({ id: Type.String(), rows: Type.Array(UsageRow) });
export type HourRecord = Static<typeof HourRecord>;

const recordReader = reader(HourRecord);

/** Reads an hour's record; `undefined` for anything else. */
export const readHourRecord = (text: string): HourRecord | undefined => {
  const value: unknown = parseJson(text);
  return recordReader.matches(value) ? value : undefined;
};

/** A process's file of an hour. */
interface HourFile {
  readonly name: string;
  /** The name without its ending. */
  readonly id: string;
  readonly hour: string;
  readonly pid: number;
}

const hourName = /^((\d{4}-\d\d-\d\dT\d\d)\.(\d{1,10})-\d{1,16})\.json(\..{1,64}\.tmp)?$/;
const monthName = /^(\d{4}-\d\d)\.jsonl$/;

/** The files of hours in a folder. `isDraft`: those that are being written, or were when their process was killed. */
export const hourFilesIn = (names: readonly string[], isDraft = false): readonly HourFile[] =>
  names.flatMap((name) => {
    const [, id, hour, pid, draft] = hourName.exec(name) ?? [];
    if (id === undefined || hour === undefined || (draft !== undefined) !== isDraft) return [];
    return Number.isNaN(hourStartMs(hour)) ? [] : [{ name, id, hour, pid: Number(pid) }];
  });

/** The files of months in a folder, by month: `2026-01`. */
export const monthFilesIn = (names: readonly string[]): readonly { readonly name: string; readonly month: string }[] =>
  names.flatMap((name) => {
    const [, month] = monthName.exec(name) ?? [];
    return month === undefined ? [] : [{ name, month }];
  });

/** How long hours are kept, in milliseconds; whole months are removed. */
const keptMs = 400 * 86_400_000;

/** Hours that are kept in memory while they can't be written. */
const maxUnwritten = 48;

/** Milliseconds between writes: what a killed process loses at most. */
const writeMs = 5_000;

/** Options of `openUsageHours`. */
interface UsageHoursOptions {
  readonly folder: string;
  readonly log: Pick<AppLog, 'warn'>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Whether a process runs. */
  readonly isAlive: (pid: number) => boolean;
  readonly everyMs?: number;
  /** The process that counts; absent: this one. */
  readonly process?: { readonly pid: number; readonly startedAtMs: number };
}

/** Counts the usage of this process by hours, and keeps it on disk. */
export interface UsageHours {
  readonly add: (request: CountedRequest) => void;
  /** Writes what has changed. Never rejects. */
  readonly write: () => Promise<void>;
  /** Writes what is left. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Begins to count; moves what ended processes have left to the files of months first. */
export const openUsageHours = async (options: UsageHoursOptions): Promise<UsageHours> => {
  const hours = new Hours(options);
  let running = hours.tidy();
  const write = (): Promise<void> => {
    running = running.then(() => hours.write());
    return running;
  };
  const timer = setInterval(() => {
    if (hours.isDue()) void write();
  }, options.everyMs ?? writeMs).unref();
  await running;
  return {
    add: (request) => hours.add(request),
    write,
    async close() {
      clearInterval(timer);
      await write();
    },
  };
};

interface OwnHour {
  readonly counted: UsageHour;
  /** Its changes that are written. */
  written: number;
}

class Hours {
  readonly #options: UsageHoursOptions;
  readonly #pid: number;
  readonly #id: string;
  /** The hours that aren't in a month's file yet; the last one may go on. */
  #own: OwnHour[] = [];
  /** The end of the last hour that was taken as over: what comes later belongs to later hours, should the clock go back. */
  #closedMs = 0;
  readonly #work: FileWork;

  constructor(options: UsageHoursOptions) {
    this.#options = options;
    this.#work = new FileWork(
      options.log,
      options.folder,
      "usage can't be kept on disk; a restart forgets what isn't written",
    );
    const { pid, startedAtMs } = options.process ?? { pid: process.pid, startedAtMs: Date.now() };
    this.#pid = pid;
    this.#id = `${pid}-${startedAtMs}`;
  }

  add(request: CountedRequest): void {
    const atMs = Math.max(this.#options.nowMs(), this.#closedMs);
    let current = this.#own.at(-1);
    if (!current || current.counted.hasEnded(atMs)) {
      current = { counted: new UsageHour(atMs), written: 0 };
      this.#own.push(current);
      if (this.#own.length > maxUnwritten) this.#own.shift();
    }
    current.counted.add(request);
  }

  /** Whether there is something to write. */
  isDue(): boolean {
    const nowMs = this.#options.nowMs();
    return this.#own.some(({ counted, written }) => counted.changes !== written || counted.hasEnded(nowMs));
  }

  /** Writes what has changed, and moves the hours that are over to the files of their months. */
  async write(): Promise<void> {
    await this.#work.run(async () => {
      let isTurning = false;
      for (const own of [...this.#own]) {
        const { counted } = own;
        const name = `${counted.hour}.${this.#id}`;
        const isOver = counted.hasEnded(this.#options.nowMs());
        if (isOver) this.#closedMs = Math.max(this.#closedMs, counted.endMs);
        const { changes } = counted;
        if (changes !== own.written) await this.#writeHour({ id: name, rows: [...counted.rows] });
        own.written = changes;
        if (!isOver) continue;
        await this.#archive({ name: `${name}.json`, hour: counted.hour });
        this.#own = this.#own.filter((other) => other !== own);
        isTurning = true;
      }
      if (isTurning) await this.#tidy();
    });
  }

  async #writeHour(record: HourRecord): Promise<void> {
    await writeAtomically(join(this.#options.folder, `${record.id}.json`), JSON.stringify(record));
  }

  /** Moves what ended processes have left to the files of months, and removes what is too old. */
  async tidy(): Promise<void> {
    await this.#work.run(() => this.#tidy());
  }

  async #tidy(): Promise<void> {
    const { folder, nowMs } = this.#options;
    const names = await readdir(folder).catch(ifMissing([]));
    const current = hourOf(nowMs());
    for (const file of hourFilesIn(names)) {
      if (file.hour < current && this.#hasEnded(file.pid) && !this.#isOwn(file)) await this.#archive(file);
    }
    for (const { name, pid } of hourFilesIn(names, true)) {
      if (this.#hasEnded(pid)) await rm(join(folder, name), { force: true });
    }
    const oldest = monthOf(hourOf(nowMs() - keptMs));
    for (const { name, month } of monthFilesIn(names)) {
      if (month < oldest) await rm(join(folder, name), { force: true });
    }
  }

  /** Adds the line of an hour's file to that of its month, then removes the file. */
  async #archive({ name, hour }: Pick<HourFile, 'name' | 'hour'>): Promise<void> {
    const { folder, log } = this.#options;
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(ifMissing(undefined));
    // Another process may have been faster.
    if (text === undefined) return;
    const record = readHourRecord(text);
    if (!record) {
      log.warn('a file of usage is ignored: it has another form', { file: path });
      return;
    }
    await appendLine(join(folder, `${monthOf(hour)}.jsonl`), JSON.stringify(record));
    await rm(path, { force: true });
  }

  #isOwn({ id }: HourFile): boolean {
    return id.endsWith(`.${this.#id}`);
  }

  /** A process with this one's number has ended: this one has it now. */
  #hasEnded(pid: number): boolean {
    return pid === this.#pid || !this.#options.isAlive(pid);
  }
}

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
