import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { writeAtomically } from '../../config/write-atomically.ts';
import { ifMissing } from '../../model/fault.ts';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import { FileWork } from '../../observe/log/file-work.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import { ClientTotals, ClientUsageRecord } from './usage.ts';

/** `absorbed`: the older files whose counts are part of it, and which may not be removed yet. */
const UsageFile = Type.Object({ ...ClientUsageRecord.properties, absorbed: Type.Array(Type.String()) });
type UsageFile = Static<typeof UsageFile>;

const fileReader = reader(UsageFile, { compiled: false });

/** What clients used in all processes. */
interface AllUsage {
  readonly all: ClientUsageRecord;
  /** Whether this process adds it to a store that has lost it: one process of the service does. */
  readonly restates: boolean;
}

/** Keeps what clients use in all processes. */
export interface ClientUsageKeeper {
  /** Adds what a process has counted since its last call. Rejects if nothing was added. */
  readonly add: (used: ClientUsageRecord) => Promise<AllUsage>;
}

interface ClientUsageOptions {
  /** The folder of the file; created when there is something to write. */
  readonly folder: string;
  readonly log: Pick<AppLog, 'warn'>;
  /** A clock that never goes back, in milliseconds since 1970. */
  readonly nowMs: () => number;
}

const fileName = 'clients.json';

/** Of older versions: one per process, with the name of a process that took it over before the ending. */
const olderName = /^(\d{1,10}-\d{1,16})(?:\.\d{1,10}-\d{1,16})?\.json$/;
const draftName = /^(?:\d{1,10}-\d{1,16}|clients)\.json\..{1,64}\.tmp$/;

/** The file of what clients use. One process of the service writes it. */
export class ClientUsageFile {
  readonly #options: ClientUsageOptions;
  readonly #totals: ClientTotals;
  readonly #work: FileWork;
  #absorbed: readonly string[] = [];
  #isChanged = false;
  #running: Promise<void> = Promise.resolve();
  /** Nothing is written before what was kept has been read: it would be lost. */
  #isOpen = false;

  constructor(options: ClientUsageOptions) {
    this.#options = options;
    this.#totals = new ClientTotals(options.nowMs);
    this.#work = new FileWork(
      options.log,
      options.folder,
      "the usage of clients can't be kept on disk; a restart forgets it",
    );
  }

  /** Reads what was kept first, as soon as it can be. Never rejects. */
  async add(used: ClientUsageRecord): Promise<ClientUsageRecord> {
    if (!this.#isOpen) await this.#inTurn(() => this.#open());
    if (this.#totals.add(used)) this.#isChanged = true;
    return this.#totals.record;
  }

  /** Writes what has changed. Never rejects. */
  write(): Promise<void> {
    return this.#inTurn(() => this.#write());
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#running = this.#running.then(() => this.#work.run(work));
    return this.#running;
  }

  async #write(): Promise<void> {
    if (!this.#isChanged) return;
    await this.#open();
    const file: UsageFile = { ...this.#totals.record, absorbed: [...this.#absorbed] };
    this.#isChanged = false;
    try {
      await writeAtomically(join(this.#options.folder, fileName), JSON.stringify(file));
    } catch (error) {
      this.#isChanged = true;
      throw error;
    }
  }

  /** Reads the file, and takes over those of older versions: a kill at any point loses nothing and counts nothing twice. */
  async #open(): Promise<void> {
    if (this.#isOpen) return;
    const { folder } = this.#options;
    const names: readonly string[] = await readdir(folder).catch(ifMissing([]));
    const older: { readonly name: string; readonly id: string; readonly file: UsageFile }[] = [];
    for (const name of names) {
      if (draftName.test(name)) await rm(join(folder, name), { force: true });
      const [, id] = olderName.exec(name) ?? [];
      const file = id === undefined ? undefined : await this.#read(name);
      if (id !== undefined && file) older.push({ name, id, file });
    }
    const own = names.includes(fileName) ? await this.#read(fileName) : undefined;
    this.#isOpen = true;
    if (own) this.#totals.add(own);
    const absorbed = new Set([own, ...older.map(({ file }) => file)].flatMap((file) => file?.absorbed ?? []));
    for (const { id, file } of older) if (!absorbed.has(id)) this.#totals.add(file);
    if (older.length === 0) return;
    this.#absorbed = older.map(({ id }) => id);
    this.#isChanged = true;
    await this.#write();
    for (const { name } of older) await rm(join(folder, name), { force: true });
    this.#absorbed = [];
  }

  async #read(name: string): Promise<UsageFile | undefined> {
    const path = join(this.#options.folder, name);
    const value = parseJson(await readFile(path, 'utf8').catch(ifMissing('')));
    if (fileReader.matches(value)) return value;
    this.#options.log.warn('a file of usage is ignored: it has another form', { file: path });
    return undefined;
  }
}
