import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../../../model/fault.ts';
import { FileWork } from '../../../observe/log/file-work.ts';
import type { AppLog } from '../../../observe/log/logs.ts';
import type { RecordLines } from '../../record/record-lines.ts';
import { type HistoryFile, historyFilesIn } from './file-names.ts';

/** Options of `openHistoryFiles`. */
interface HistoryFilesOptions {
  readonly folder: string;
  /** The lines to write. */
  readonly lines: RecordLines;
  /** `days` 0: nothing is written, and what is there is removed. `bytes`: each process may be one file beyond. */
  readonly bounds: () => { readonly days: number; readonly bytes: number };
  readonly log: Pick<AppLog, 'warn'>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Whether a process runs. */
  readonly isAlive: (pid: number) => boolean;
  readonly everyMs?: number;
  /** A file is closed from this size on. */
  readonly fileBytes?: number;
  /** The process that writes; absent: this one. */
  readonly process?: { readonly pid: number; readonly startedAtMs: number };
}

/** Keeps the requests of this process on disk. */
interface HistoryFiles {
  /** Writes what isn't written yet. Never rejects. */
  readonly write: () => Promise<void>;
  /** Removes this process's files, and those of processes that have ended. Never rejects. */
  readonly clear: () => Promise<void>;
  /** Writes what is left. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Milliseconds between writes: what a killed process loses at most. */
const writeMs = 1_000;

const defaultFileBytes = 4 << 20;

/** A file is closed after a day, so that its age says how old its lines are. */
const dayMs = 86_400_000;

/** Begins to keep requests, and removes files that are too old or too many. */
export const openHistoryFiles = async (options: HistoryFilesOptions): Promise<HistoryFiles> => {
  const files = new Files(options);
  await files.prune();
  options.lines.onManyWait = () => files.hurry();
  const timer = setInterval(() => {
    if (files.isDue()) void files.write();
  }, options.everyMs ?? writeMs).unref();
  return {
    write: () => files.write(),
    clear: () => files.clear(),
    async close() {
      clearInterval(timer);
      await files.write();
      await files.close();
    },
  };
};

interface OpenFile {
  readonly name: string;
  readonly firstMs: number;
  readonly handle: FileHandle;
  bytes: number;
}

class Files {
  readonly #options: HistoryFilesOptions;
  readonly #process: { readonly pid: number; readonly startedAtMs: number };
  readonly #work: FileWork;
  #warnedOfOdd = false;
  #warnedOfOverfull = false;
  #file: OpenFile | undefined;
  /** The time of the last file, which no other may have. */
  #lastFileMs = 0;
  #running: Promise<void> = Promise.resolve();
  #isWriting = false;

  constructor(options: HistoryFilesOptions) {
    this.#options = options;
    this.#process = options.process ?? { pid: process.pid, startedAtMs: Date.now() };
    this.#work = new FileWork(options.log, options.folder, "the history of requests can't be kept on disk");
  }

  /** Writes before its time. */
  hurry(): void {
    const { lines, log } = this.#options;
    if (lines.isOverfull && !this.#warnedOfOverfull) {
      this.#warnedOfOverfull = true;
      log.warn('requests end faster than their history can be written');
    }
    if (!this.#isWriting && !this.#work.isFailing) void this.write();
  }

  /** Whether there is something to write or to close. */
  isDue(): boolean {
    return !this.#isWriting && (this.#options.lines.unwritten > 0 || this.#isOld());
  }

  write(): Promise<void> {
    this.#isWriting = true;
    return this.#inTurn(async () => {
      const { lines, bounds } = this.#options;
      if (bounds().days === 0) lines.discard();
      while (lines.unwritten > 0) await this.#writeSome();
      this.#warnedOfOverfull = false;
      if (this.#isOld()) await this.#turn();
    }).finally(() => {
      this.#isWriting = false;
    });
  }

  clear(): Promise<void> {
    this.#options.lines.discard();
    return this.#inTurn(async () => {
      await this.#closeFile();
      for (const { name } of (await this.#list()).filter((file) => this.#mayRemove(file))) await this.#remove(name);
    });
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#closeFile());
  }

  prune(): Promise<void> {
    return this.#inTurn(() => this.#prune());
  }

  /** One task after the other. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#running = this.#running.then(() => this.#work.run(work));
    return this.#running;
  }

  async #writeSome(): Promise<void> {
    const { lines, fileBytes = defaultFileBytes } = this.#options;
    const next = lines.next();
    if (!next) return;
    const file = this.#file ?? (await this.#open(next.firstMs));
    try {
      await file.handle.appendFile(next.bytes);
    } catch (error) {
      // A part of a line may have been written: what comes next begins a file.
      await this.#closeFile();
      throw error;
    }
    lines.written(next);
    file.bytes += next.bytes.length;
    if (file.bytes >= fileBytes) await this.#turn();
  }

  async #open(firstMs: number): Promise<OpenFile> {
    const { folder } = this.#options;
    const { pid, startedAtMs } = this.#process;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    this.#lastFileMs = Math.max(firstMs, this.#lastFileMs + 1);
    const name = `${this.#lastFileMs}.${pid}-${startedAtMs}.jsonl`;
    this.#file = { name, firstMs: this.#lastFileMs, handle: await open(join(folder, name), 'ax', 0o600), bytes: 0 };
    return this.#file;
  }

  #isOld(): boolean {
    return this.#file !== undefined && this.#options.nowMs() - this.#file.firstMs >= dayMs;
  }

  /** Closes the file; the next request begins another. */
  async #turn(): Promise<void> {
    await this.#closeFile();
    await this.#prune();
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close();
  }

  /** Removes what is too old, then the oldest files until the rest isn't too large. */
  async #prune(): Promise<void> {
    const { folder, bounds, nowMs } = this.#options;
    const { days, bytes } = bounds();
    const oldestMs = nowMs() - days * dayMs;
    let room = bytes;
    for (const file of (await this.#list()).toReversed()) {
      const { size, mtimeMs } = (await stat(join(folder, file.name)).catch(ifMissing(undefined))) ?? noStat;
      room -= size;
      if (this.#mayRemove(file) && (room < 0 || days === 0 || mtimeMs < oldestMs)) await this.#remove(file.name);
    }
  }

  async #list(): Promise<readonly HistoryFile[]> {
    const entries = await readdir(this.#options.folder, { withFileTypes: true }).catch(ifMissing([]));
    const named = historyFilesIn(entries.map(({ name }) => name));
    const files = new Set(entries.flatMap((entry) => (entry.isFile() ? entry.name : [])));
    const odd = named.find(({ name }) => !files.has(name));
    if (odd && !this.#warnedOfOdd)
      this.#options.log.warn('an entry of the history is no file and is ignored', { name: odd.name });
    this.#warnedOfOdd ||= odd !== undefined;
    return named.filter(({ name }) => files.has(name));
  }

  /** Not a file that a process has open: its last lines would be lost. */
  #mayRemove({ name, firstMs, pid, startedAtMs }: HistoryFile): boolean {
    if (name === this.#file?.name) return false;
    if (pid === this.#process.pid || startedAtMs === this.#process.startedAtMs) return true;
    return !this.#options.isAlive(pid) || this.#options.nowMs() - firstMs > 2 * dayMs;
  }

  async #remove(name: string): Promise<void> {
    await rm(join(this.#options.folder, name), { force: true });
  }
}

const noStat = { size: 0, mtimeMs: 0 };
