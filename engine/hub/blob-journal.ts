import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Type, { type Static } from 'typebox';
import { errorCode } from '../model/fault.ts';
import { parseJson } from '../model/json/json.ts';
import { reader } from '../model/schema.ts';
import { type Blob, maxBlob, maxId } from './contract.ts';

/** Options of a journal. */
interface JournalOptions {
  readonly path: string;
  /** Size of the two files together, in bytes. */
  readonly maxBytes?: number;
  /** The content that is lost with the process if it can't be written, for the user. */
  readonly contents?: string;
  /** Prints a line for the user when it can't be written; once until it can. */
  readonly report: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const defaultMaxBytes = 64 << 20;
/** Interval between writes, in milliseconds; a process that is killed loses the blobs since the last one. */
const writeMs = 200;

const Line = Type.Object({
  name: Type.String({ minLength: 1, maxLength: maxId }),
  value: Type.String({ maxLength: maxBlob }),
  /** Milliseconds since 1970. */
  expires: Type.Number(),
});
const line = reader(Line);

/**
 * Sealed blobs on disk, so that they survive a restart. They are appended to one file; when it is half of the size allowed, it
 * takes the place of the older one. Reading drops what has expired, also on disk. Used by one process at a time.
 */
export class BlobJournal {
  readonly #options: JournalOptions;
  readonly #halfBytes: number;
  readonly #now: () => number;
  #waiting: string[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#halfBytes = (options.maxBytes ?? defaultMaxBytes) / 2;
    this.#now = options.now ?? Date.now;
  }

  /** The blobs that haven't expired, oldest first. */
  read(): readonly Blob[] {
    const nowMs = this.#now();
    const found = linesIn(this.#options.path, nowMs);
    this.#try(() => this.#rewrite(found.map((value) => `${JSON.stringify(value)}\n`)));
    return found.map((one) => blobOf(one, nowMs));
  }

  append({ name, value, forMs }: Blob): void {
    this.#waiting.push(`${JSON.stringify({ name, value, expires: Math.round(this.#now() + forMs) })}\n`);
    this.#timer ??= setTimeout(() => this.flush(), writeMs).unref();
  }

  /** Writes what waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#try(() => {
      if (this.#bytes + text.length > this.#halfBytes && this.#bytes > 0) {
        renameSync(this.#options.path, olderPath(this.#options.path));
        this.#bytes = 0;
      }
      appendFileSync(this.#options.path, text, { mode: 0o600 });
      this.#bytes += text.length;
    });
  }

  #rewrite(lines: readonly string[]): void {
    const { path } = this.#options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (lines.length === 0 && sizeOf(path) === 0 && sizeOf(olderPath(path)) === 0) return;
    // The newest that fit: the older file is empty from now on.
    let from = lines.length;
    let bytes = 0;
    while (from > 0 && bytes + (lines[from - 1]?.length ?? 0) <= this.#halfBytes) {
      from -= 1;
      bytes += lines[from]?.length ?? 0;
    }
    writeFileSync(`${path}.tmp`, lines.slice(from).join(''), { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
    rmSync(olderPath(path), { force: true });
    this.#bytes = bytes;
  }

  #try(write: () => void): void {
    try {
      write();
      this.#hasFailed = false;
    } catch (error) {
      const { path, contents = 'reasoning', report } = this.#options;
      if (!this.#hasFailed) {
        report(`warning: ${path} can't be written (${errorCode(error) ?? error}): ${contents} won't survive a restart`);
      }
      this.#hasFailed = true;
    }
  }
}

/** The blobs of a journal that haven't expired, oldest first. Changes nothing: another process may be writing it. */
export const readJournal = (path: string, nowMs: number = Date.now()): readonly Blob[] =>
  linesIn(path, nowMs).map((one) => blobOf(one, nowMs));

const olderPath = (path: string): string => `${path}.old`;

const linesIn = (path: string, nowMs: number) =>
  [olderPath(path), path]
    .flatMap((one) => linesOf(one))
    .map((text) => parseJson(text))
    // The last line may be incomplete, if the process was killed.
    .filter((value) => line.matches(value))
    .filter(({ expires }) => expires > nowMs);

const blobOf = ({ name, value, expires }: Static<typeof Line>, nowMs: number): Blob => ({
  name,
  value,
  forMs: expires - nowMs,
});

const linesOf = (path: string): readonly string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
};

const sizeOf = (path: string): number => {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
};
