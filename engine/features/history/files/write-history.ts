import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../../../model/fault.ts';
import { FileWork } from '../../../observe/log/file-work.ts';
import type { AppLog } from '../../../observe/log/logs.ts';
import { type HistoryFile, historyFilesIn } from './file-names.ts';

/** What is kept at most. `days` 0: nothing. `bytes`: there may be one file beyond. */
export interface HistoryBounds {
  readonly days: number;
  readonly bytes: number;
}

/** Lines of ended requests, in the order of their ends. */
interface EndedLines {
  /** Whole lines, each with its line feed, as text or in UTF-8. */
  readonly lines: string | Uint8Array;
  /** When the first of them ended, in milliseconds since 1970. */
  readonly firstMs: number;
}

/** Keeps ended requests of all processes. Each method rejects if the disk refuses. */
export interface HistoryKeeper {
  /** Removes what is beyond the bounds, and keeps to them from now on. */
  readonly bound: (bounds: HistoryBounds) => Promise<void>;
  /** Resolves when the lines are written. */
  readonly append: (ended: EndedLines) => Promise<void>;
  /** Removes everything. */
  readonly clear: () => Promise<void>;
}

interface HistoryFilesOptions {
  readonly folder: string;
  readonly log: Pick<AppLog, 'warn'>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** A file is closed from this size on. */
  readonly fileBytes?: number;
}

const defaultFileBytes = 4 << 20;

/** A file is closed after a day, so that its age says how old its lines are. */
const dayMs = 86_400_000;

interface OpenFile {
  readonly name: string;
  readonly firstMs: number;
  readonly handle: FileHandle;
  bytes: number;
}

/**
 * The files of ended requests. One process of the service writes them; each process has a file of its own, in which times don't go
 * back.
 */
export class HistoryFiles {
  readonly #options: HistoryFilesOptions;
  readonly #startedAtMs = Date.now();
  #bounds: HistoryBounds = { days: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  #warnedOfOdd = false;
  /** By the process whose requests are in it. */
  readonly #open = new Map<number, OpenFile>();
  /** The time of each process's last file, which no other of its files may have. */
  readonly #lastFileMs = new Map<number, number>();
  readonly #work: FileWork;
  #running: Promise<void> = Promise.resolve();

  constructor(options: HistoryFilesOptions) {
    this.#options = options;
    this.#work = new FileWork(options.log, options.folder, "the history of requests can't be tidied");
  }

  /** Keeps the requests of one of the service's processes. */
  keeperOf(member: number): HistoryKeeper {
    return {
      bound: (bounds) =>
        this.#inTurn(() => {
          this.#bounds = bounds;
          return this.#prune();
        }),
      append: (ended) => this.#inTurn(() => this.#append(member, ended)),
      clear: () =>
        this.#inTurn(async () => {
          await this.#closeAll();
          for (const { name } of await this.#list()) await this.#remove(name);
        }),
    };
  }

  /** The process has ended. Never rejects. */
  leave(member: number): Promise<void> {
    return this.#inTurn(() => this.#work.run(() => this.#close(member))).finally(() => this.#lastFileMs.delete(member));
  }

  /** Closes files of a day, and removes what is too old. Never rejects. */
  async tend(): Promise<void> {
    for (const [member, file] of this.#open) {
      if (this.#isOld(file)) await this.#inTurn(() => this.#work.run(() => this.#turn(member)));
    }
  }

  /** Never rejects. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#work.run(() => this.#closeAll()));
  }

  /** One task after the other. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#running.then(work);
    this.#running = done.catch(() => undefined);
    return done;
  }

  async #append(member: number, { lines, firstMs }: EndedLines): Promise<void> {
    const { fileBytes = defaultFileBytes } = this.#options;
    if (this.#bounds.days === 0) return;
    const file = this.#open.get(member) ?? (await this.#begin(member, firstMs));
    try {
      await file.handle.appendFile(lines);
    } catch (error) {
      // A part of a line may have been written: what comes next begins a file.
      await this.#close(member);
      throw error;
    }
    file.bytes += lines.length;
    if (file.bytes >= fileBytes || this.#isOld(file)) await this.#turn(member);
  }

  async #begin(member: number, firstMs: number): Promise<OpenFile> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const fileMs = Math.max(firstMs, (this.#lastFileMs.get(member) ?? 0) + 1);
    this.#lastFileMs.set(member, fileMs);
    const name = `${fileMs}.${process.pid}-${this.#startedAtMs + member}.jsonl`;
    const handle = await open(join(folder, name), 'ax', 0o600);
    const file = { name, firstMs: fileMs, handle, bytes: 0 };
    this.#open.set(member, file);
    return file;
  }

  #isOld({ firstMs }: OpenFile): boolean {
    return this.#options.nowMs() - firstMs >= dayMs;
  }

  /** Closes a process's file; its next request begins another. */
  async #turn(member: number): Promise<void> {
    await this.#close(member);
    await this.#prune();
  }

  async #close(member: number): Promise<void> {
    const file = this.#open.get(member);
    this.#open.delete(member);
    await file?.handle.close();
  }

  async #closeAll(): Promise<void> {
    for (const member of [...this.#open.keys()]) await this.#close(member);
  }

  /** Removes what is too old, then the oldest files until the rest isn't too large. */
  async #prune(): Promise<void> {
    const { folder, nowMs } = this.#options;
    const { days, bytes } = this.#bounds;
    const oldestMs = nowMs() - days * dayMs;
    const open = new Set([...this.#open.values()].map(({ name }) => name));
    let room = bytes;
    for (const { name } of (await this.#list()).toReversed()) {
      const { size, mtimeMs } = (await stat(join(folder, name)).catch(ifMissing(undefined))) ?? noStat;
      room -= size;
      if (!open.has(name) && (room < 0 || days === 0 || mtimeMs < oldestMs)) await this.#remove(name);
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

  async #remove(name: string): Promise<void> {
    await rm(join(this.#options.folder, name), { force: true });
  }
}

const noStat = { size: 0, mtimeMs: 0 };
