import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fail, ifMissing } from '../../../model/fault.ts';
import { parseJson } from '../../../model/json/json.ts';
import { reader } from '../../../model/schema.ts';
import { KeptRequest } from '../../record/schema.ts';
import { historyFilesIn } from './file-names.ts';
import { type KeptLine, linesBackwards, offsetAfter } from './lines-backwards.ts';

/** Which requests are wanted; absent members don't restrict. */
export interface HistoryFilter {
  /** The times at which requests ended, in milliseconds since 1970, both included. */
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly matches: (request: KeptRequest) => boolean;
  /** A text that the line of each wanted request has: what lacks it isn't parsed. */
  readonly hint?: string;
}

/** How far one search goes. */
interface SearchLimits {
  readonly limit: number;
  /** Bytes of lines that are looked at. */
  readonly maxBytes: number;
}

/** Requests of one search, those that ended last first. */
interface FoundRequests {
  readonly requests: readonly KeptRequest[];
  /** Where the next search goes on; `undefined`: there is nothing older. */
  readonly next: string | undefined;
}

const keptReader = reader(KeptRequest);

/** Bytes that are searched at a stretch, less than a millisecond's work. */
const sliceBytes = 16 * 1024;

/** The place of a line among those of all files. */
interface Place {
  readonly endedAtMs: number;
  readonly name: string;
  readonly offset: number;
}

/** A place as text: `1764000000000_4096_1763999000000.17-1763990000000`. */
const placeForm = /^(\d{1,16})_(\d{1,10})_(\d{1,16}\.\d{1,10}-\d{1,16})$/;

const showPlace = ({ endedAtMs, offset, name }: Place): string =>
  `${endedAtMs}_${offset}_${name.slice(0, -'.jsonl'.length)}`;

const readPlace = (text: string): Place => {
  const [, endedAtMs, offset, name] = placeForm.exec(text) ?? [];
  return name === undefined
    ? fail('invalid-request', 'before must be the `next` of an earlier answer.', { param: 'before' })
    : { endedAtMs: Number(endedAtMs), offset: Number(offset), name: `${name}.jsonl` };
};

/** Later ones first. */
const compare = (one: Place, other: Place): number =>
  other.endedAtMs - one.endedAtMs ||
  (one.name === other.name ? other.offset - one.offset : one.name < other.name ? 1 : -1);

/** The times of a file's lines; they change only at its end. */
interface Bounds {
  readonly size: number;
  readonly lastMs: number;
}

/** The lines of a file of this size. */
interface LineCount {
  readonly size: number;
  readonly lines: number;
}

/** How much is kept; without times if nothing is. */
interface HistoryFilesExtent {
  readonly requests: number;
  readonly bytes: number;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** Searches the kept requests of all processes of a service. */
export class HistorySearch {
  readonly #folder: string;
  #bounds: ReadonlyMap<string, Bounds> = new Map();
  #counts: ReadonlyMap<string, LineCount> = new Map();
  #removals = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** How often a search has found files gone that were there before: what it found earlier may be gone, too. */
  get removals(): number {
    return this.#removals;
  }

  /**
   * Finds requests, those that ended last first. Reads each byte once at most, and gives up after `maxBytes`: `next` goes on
   * there. Other work has its turn after each slice. `before`: the `next` of an earlier search. Throws an `invalid-request` fault if it is anything else.
   */
  async find(
    { fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, matches, hint }: HistoryFilter,
    { limit, maxBytes }: SearchLimits,
    before?: string,
  ): Promise<FoundRequests> {
    const start = before === undefined ? undefined : readPlace(before);
    const lastMs = Math.min(toMs, start?.endedAtMs ?? toMs);
    const files = await this.#filesBetween(fromMs, lastMs);
    const readers: LineReader[] = [];
    const requests: KeptRequest[] = [];
    let bytes = 0;
    let sliced = 0;
    try {
      for (;;) {
        if (sliced >= sliceBytes) {
          await setImmediate();
          sliced = 0;
        }
        // A file is opened when its last line may be the next.
        let newest = newestOf(readers);
        for (let [file] = files; file && file.lastMs >= (newest?.head?.endedAtMs ?? 0); [file] = files) {
          files.shift();
          readers.push(await LineReader.open(join(this.#folder, file.name), file, lastMs, start));
          newest = newestOf(readers);
        }
        const line = newest?.head;
        if (!newest || !line || line.endedAtMs < fromMs) return { requests, next: undefined };
        await newest.advance();
        bytes += line.text.length;
        sliced += line.text.length;
        if (hint === undefined || line.text.includes(hint)) {
          const value: unknown = parseJson(line.text);
          if (keptReader.matches(value) && matches(value)) requests.push(value);
        }
        if (requests.length >= limit || bytes >= maxBytes) return { requests, next: showPlace(line) };
      }
    } finally {
      await Promise.all(readers.map((one) => one.close()));
    }
  }

  /** How many requests are kept, in how many bytes, and when the first and the last one ended. Reads files that have grown. */
  async extent(): Promise<HistoryFilesExtent> {
    const files = await this.#filesBetween(0, Number.MAX_SAFE_INTEGER);
    const counts = new Map<string, LineCount>();
    for (const { name, size } of files) {
      const known = this.#counts.get(name);
      const isKnown = known?.size === size;
      counts.set(name, isKnown ? known : { size, lines: await countLines(join(this.#folder, name), size) });
    }
    this.#counts = counts;
    const sizes = [...counts.values()];
    const firsts = historyFilesIn([...counts.keys()]).map(({ firstMs }) => firstMs);
    return {
      requests: sizes.reduce((sum, { lines }) => sum + lines, 0),
      bytes: sizes.reduce((sum, { size }) => sum + size, 0),
      fromMs: firsts[0],
      toMs: files[0]?.lastMs,
    };
  }

  /** The files with lines in a span, the latest last line first. Both ends are included. */
  async #filesBetween(fromMs: number, toMs: number): Promise<(Bounds & { readonly name: string })[]> {
    const known = new Map<string, Bounds>();
    for (const { name } of historyFilesIn(await readdir(this.#folder).catch(ifMissing([])))) {
      const bounds = await boundsOf(join(this.#folder, name), this.#bounds.get(name));
      if (bounds) known.set(name, bounds);
    }
    if ([...this.#bounds.keys()].some((name) => !known.has(name))) this.#removals += 1;
    this.#bounds = known;
    return historyFilesIn([...known.keys()])
      .flatMap(({ name, firstMs }) => {
        const bounds = known.get(name);
        return bounds && firstMs <= toMs && bounds.lastMs >= fromMs ? [{ name, ...bounds }] : [];
      })
      .toSorted((one, other) => other.lastMs - one.lastMs);
  }
}

const countLines = async (path: string, size: number): Promise<number> => {
  const file = await open(path).catch(ifMissing(undefined));
  if (!file || size === 0) {
    await file?.close();
    return 0;
  }
  let lines = 0;
  // Closes the file at its end.
  for await (const chunk of file.createReadStream({ end: size - 1 })) {
    const bytes: Buffer = chunk;
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines += 1;
  }
  return lines;
};

const newline = 10;

const newestOf = (readers: readonly LineReader[]): LineReader | undefined => {
  let newest: LineReader | undefined;
  for (const one of readers) {
    if (one.head && (!newest?.head || compare(one.head, newest.head) < 0)) newest = one;
  }
  return newest;
};

const boundsOf = async (path: string, known: Bounds | undefined): Promise<Bounds | undefined> => {
  // A folder, a pipe or a file of another user in a file's place must not fail every search.
  const isFile = await stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
  const file = isFile ? await open(path).catch(() => undefined) : undefined;
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    if (known?.size === size) return known;
    for await (const { endedAtMs } of linesBackwards(file, size)) return { size, lastMs: endedAtMs };
    return undefined;
  } finally {
    await file.close();
  }
};

/** Reads a file from its end. */
class LineReader {
  readonly #file: FileHandle | undefined;
  readonly #name: string;
  readonly #lines: AsyncGenerator<KeptLine> | undefined;
  /** The next line. */
  head: (KeptLine & Place) | undefined;

  private constructor(file: FileHandle | undefined, name: string, lines: AsyncGenerator<KeptLine> | undefined) {
    this.#file = file;
    this.#name = name;
    this.#lines = lines;
  }

  /** Its first line is the last one up to a time, and before `start`. */
  static async open(
    path: string,
    { name, size }: { readonly name: string; readonly size: number },
    toMs: number,
    start: Place | undefined,
  ): Promise<LineReader> {
    const file = await open(path).catch(ifMissing(undefined));
    const to = start?.name === name ? Math.min(size, start.offset) : file && (await offsetAfter(file, size, toMs));
    const one = new LineReader(file, name, file && linesBackwards(file, to ?? size));
    const isLater = ({ head }: LineReader): boolean =>
      head !== undefined && (head.endedAtMs > toMs || (start !== undefined && compare(head, start) <= 0));
    do await one.advance();
    while (isLater(one));
    return one;
  }

  async advance(): Promise<void> {
    const next = await this.#lines?.next();
    this.head = next && !next.done ? { ...next.value, name: this.#name } : undefined;
  }

  async close(): Promise<void> {
    await this.#lines?.return(undefined);
    await this.#file?.close();
  }
}
