import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, parseJson } from '../model/json/json.ts';
import { type KeptUse, type LineBatch, UseSums, usedOf } from './client-use.ts';

/*
 * The use of clients in files: as versions before the store kept it, and as it is kept where no library runs. `clients.json` has all of
 * it; the oldest versions had a file per process, `<pid>-<start>.json`, with the name of a process that took it over before the ending.
 */

interface UseFile {
  readonly use: UseSums;
  /** The older files whose sums are part of it. */
  readonly absorbed: readonly string[];
  /** Each writer's last one. */
  readonly batches: ReadonlyMap<string, number>;
}

/** What a file has; `undefined`: it has another form. */
const fileOf = (value: Json | undefined): UseFile | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { day, month, absorbed, batches } = value;
  const use = new UseSums();
  for (const period of [day, month]) {
    if (!isJsonObject(period) || typeof period.key !== 'string' || !isJsonObject(period.clients)) return undefined;
    for (const [client, one] of Object.entries(period.clients)) {
      const used = usedOf(one);
      if (!used) return undefined;
      use.add(period.key, client, used);
    }
  }
  return {
    use,
    absorbed: Array.isArray(absorbed) ? absorbed.map(String) : [],
    batches: new Map(Object.entries(isJsonObject(batches) ? batches : {}).map(([name, n]) => [name, Number(n)])),
  };
};

const fileName = 'clients.json';
const olderName = /^(\d{1,10}-\d{1,16})(?:\.\d{1,10}-\d{1,16})?\.json$/;
const draftName = /^(?:\d{1,10}-\d{1,16}|clients)\.json\..{1,64}\.tmp$/;

/** A file of use; `id` tells it from others. */
interface FoundFile {
  readonly id: string;
  readonly file: UseFile;
}

/** What the files of a folder have; what one has absorbed of others counts once. */
interface FoundFiles {
  readonly names: readonly string[];
  readonly found: readonly FoundFile[];
  readonly ignored: readonly string[];
}

const filesIn = (folder: string): FoundFiles => {
  const all = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  const read = all
    .filter((name) => name === fileName || olderName.test(name))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
    .map(({ name, text }) => ({
      name,
      id: olderName.exec(name)?.[1] ?? createHash('sha256').update(text).digest('base64'),
      file: fileOf(parseJson(text)),
    }));
  const files = read.flatMap(({ name, id, file }) => (file ? [{ name, id, file }] : []));
  const names = [...files.map(({ name }) => name), ...all.filter((name) => draftName.test(name))];
  const absorbed = new Set(files.flatMap(({ file }) => file.absorbed));
  return {
    names,
    found: files.filter(({ id }) => !absorbed.has(id)),
    ignored: read.map(({ name }) => name).filter((name) => !names.includes(name)),
  };
};

/**
 * Reads the files of a folder. `isNew`: whether a file of this id hasn't been taken over before. Returns their sums, and what removes
 * them once the sums are kept elsewhere.
 */
export const takeClientFiles = (
  folder: string,
  isNew: (id: string) => boolean,
): { readonly sums: UseSums; readonly ignored: readonly string[]; readonly remove: () => void } => {
  const sums = new UseSums();
  const { names, found, ignored } = filesIn(folder);
  for (const { id, file } of found) if (isNew(`clients ${id}`)) sums.addEach(file.use);
  const remove = (): void => {
    for (const name of names) rmSync(join(folder, name), { force: true });
    try {
      rmdirSync(folder);
    } catch {
      // There are other files in it.
    }
  };
  return { sums, ignored, remove };
};

interface OpenedFile {
  readonly sums: UseSums;
  readonly batches: Map<string, number>;
  readonly absorbed: readonly string[];
}

/** Writers whose last batch is remembered. */
const maxWriters = 100;

/** Keeps the use of clients in a file, where the store can't be used. Throws if the disk refuses: then nothing was kept. */
export class ClientUseFile {
  readonly #folder: string;
  #opened: OpenedFile | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  append(added: UseSums, nowMs: number, batch?: LineBatch): KeptUse {
    const { sums, batches } = this.#open();
    const isNew = batch === undefined || batch.n > (batches.get(batch.writer) ?? -1);
    if (isNew && !added.isEmpty) {
      sums.addEach(added);
      sums.turn(nowMs);
      if (batch) this.#remember(batches, batch);
      this.#write(nowMs);
    }
    return { all: sums.at(nowMs), added: added.at(nowMs) };
  }

  #remember(batches: Map<string, number>, { writer, n }: LineBatch): void {
    batches.delete(writer);
    batches.set(writer, n);
    const [oldest = writer] = batches.keys();
    if (batches.size > maxWriters) batches.delete(oldest);
  }

  #open(): OpenedFile {
    if (this.#opened) return this.#opened;
    const sums = new UseSums();
    const { names, found } = filesIn(this.#folder);
    for (const { file } of found) sums.addEach(file.use);
    this.#opened = {
      sums,
      batches: new Map(found.flatMap(({ file }) => [...file.batches])),
      absorbed: names.flatMap((name) => olderName.exec(name)?.[1] ?? []),
    };
    return this.#opened;
  }

  #write(nowMs: number): void {
    const { sums, batches, absorbed } = this.#open();
    const [day, month] = Object.entries(sums.at(nowMs)).map(([key, clients]) => ({ key, clients }));
    const file = { day, month, absorbed, batches: Object.fromEntries(batches) };
    const draft = join(this.#folder, `${fileName}.${process.pid}.tmp`);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(draft, JSON.stringify(file), { mode: 0o600, flush: true });
      renameSync(draft, join(this.#folder, fileName));
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }
}
