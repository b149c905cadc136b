import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { writeAtomically } from '../../config/files/write-atomically.ts';
import { ifMissing } from '../../model/fault.ts';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';
import { FileWork } from '../../observe/log/file-work.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import type { UsageLedger } from './usage.ts';

const Used = Type.Object({
  requests: Type.Integer({ minimum: 0 }),
  input: Type.Integer({ minimum: 0 }),
  output: Type.Integer({ minimum: 0 }),
  // Older versions don't count these.
  cost: Type.Optional(Type.Integer({ minimum: 0 })),
  unpriced: Type.Optional(Type.Integer({ minimum: 0 })),
});

const Period = Type.Object({ key: Type.String(), clients: Type.Record(Type.String(), Used) });

/** A process's file: what it has counted, and the processes whose counts are part of that. */
const UsageFile = Type.Object({ day: Period, month: Period, absorbed: Type.Array(Type.String()) });
type UsageFile = Static<typeof UsageFile>;

const fileReader = reader(UsageFile, { compiled: false });

/** Options of `openUsageFiles`. */
interface UsageFilesOptions {
  /** The folder of the files; created when there is something to write. */
  readonly folder: string;
  readonly ledger: UsageLedger;
  readonly log: Pick<AppLog, 'warn'>;
  /** Whether there are clients. Without any, nothing is written or read after the start. */
  readonly isUsed: () => boolean;
  /** Milliseconds between exchanges with the files. */
  readonly everyMs?: number;
  /** The process that counts; absent: this one. */
  readonly process?: ProcessId;
  /** Whether a process runs. */
  readonly isAlive: (pid: number) => boolean;
}

/** A process, told from earlier and later ones with the same number. */
interface ProcessId {
  readonly pid: number;
  readonly startedAtMs: number;
}

/** The counts of usage on disk. */
interface UsageFiles {
  /** Writes what has changed and reads what other processes have written. Never rejects. */
  readonly exchange: () => Promise<void>;
  /** Writes what is left. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Milliseconds between exchanges: what a killed process loses at most. */
const exchangeMs = 2_000;

/**
 * Keeps the counts of a ledger in a file per process, since each may write at any time. A process takes over the files of ended
 * ones: it claims a file by renaming it, writes its own file with the counts and the name of what it absorbed, and removes the
 * claimed one. A process that reads in between finds the name and skips the file, so nothing counts twice or gets lost at any point.
 */
export const openUsageFiles = async (options: UsageFilesOptions): Promise<UsageFiles> => {
  const { isUsed, everyMs = exchangeMs } = options;
  const files = new Files(options);
  await files.open();
  let running: Promise<void> = Promise.resolve();
  const exchange = (): Promise<void> => {
    running = running.then(() => files.exchange());
    return running;
  };
  const timer = setInterval(() => {
    if (isUsed()) void exchange();
  }, everyMs).unref();
  return {
    exchange,
    async close() {
      clearInterval(timer);
      await running;
      await files.write();
    },
  };
};

/** A file of another process: `<pid>-<start>.json`, with the claiming process's id before the ending if it is claimed. */
interface OtherFile {
  readonly name: string;
  readonly id: string;
  /** The process that answers for it: the one that claimed it last, else the one that wrote it. */
  readonly pid: number;
}

class Files {
  readonly #options: UsageFilesOptions;
  readonly #self: ProcessId;
  readonly #id: string;
  /** Ids of absorbed files that may not be removed yet. */
  #absorbed: readonly string[] = [];
  /** Changes of the ledger that are written. */
  #written: number;
  readonly #work: FileWork;
  /** What was read, by file name, as of its time of change. */
  readonly #known = new Map<string, { readonly changedMs: number; readonly file: UsageFile | undefined }>();

  constructor(options: UsageFilesOptions) {
    this.#options = options;
    this.#work = new FileWork(
      options.log,
      options.folder,
      "the usage of clients can't be kept on disk; a restart forgets it",
    );
    this.#self = options.process ?? { pid: process.pid, startedAtMs: Date.now() };
    this.#id = `${this.#self.pid}-${this.#self.startedAtMs}`;
    this.#written = options.ledger.changes;
  }

  /** Takes over what ended processes have counted. */
  async open(): Promise<void> {
    await this.#work.run(async () => {
      const { ledger, folder } = this.#options;
      await this.#removeTempFiles();
      const others = await this.#others();
      const absorbedBefore = await this.#absorbedIn(others);
      const claimed: string[] = [];
      for (const other of others.filter(({ pid }) => this.#hasEnded(pid))) {
        const name = `${other.id}.${this.#id}.json`;
        // One of another version, say, stays as it is.
        if ((await this.#read(other.name)) === undefined) continue;
        // Another process may have been faster.
        if (!(await rename(join(folder, other.name), join(folder, name)).then(() => true, ifMissing(false)))) continue;
        const file = absorbedBefore.has(other.id) ? undefined : await this.#read(name);
        if (file) ledger.resume(file);
        claimed.push(name);
        this.#absorbed = [...this.#absorbed, other.id];
      }
      if (claimed.length > 0) await this.write();
      if (this.#work.isFailing) return;
      for (const name of claimed) await rm(join(folder, name), { force: true });
      this.#absorbed = [];
    });
    await this.#work.run(() => this.#learn());
  }

  async exchange(): Promise<void> {
    await this.write();
    await this.#work.run(() => this.#learn());
  }

  async write(): Promise<void> {
    const { ledger, folder } = this.#options;
    const { changes } = ledger;
    if (changes === this.#written && this.#absorbed.length === 0) return;
    await this.#work.run(async () => {
      const file: UsageFile = { ...plain(ledger.record), absorbed: [...this.#absorbed] };
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeAtomically(join(folder, `${this.#id}.json`), JSON.stringify(file));
      this.#written = changes;
    });
  }

  /** Reads what other processes have written since. */
  async #learn(): Promise<void> {
    const others = await this.#others();
    const absorbed = await this.#absorbedIn(others);
    const records = [];
    for (const { name, id } of others) {
      const file = absorbed.has(id) || this.#absorbed.includes(id) ? undefined : await this.#read(name);
      if (file) records.push(file);
    }
    for (const name of this.#known.keys()) if (!others.some((other) => other.name === name)) this.#known.delete(name);
    this.#options.ledger.learn(records);
  }

  async #absorbedIn(others: readonly OtherFile[]): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (const { name } of others) for (const id of (await this.#read(name))?.absorbed ?? []) ids.add(id);
    return ids;
  }

  async #others(): Promise<readonly OtherFile[]> {
    const names = await readdir(this.#options.folder).catch(ifMissing([]));
    return names.flatMap((name) => {
      const [, id = '', pid, , claimer] = fileName.exec(name) ?? [];
      return id === '' || id === this.#id ? [] : [{ name, id, pid: Number(claimer ?? pid) }];
    });
  }

  /** `undefined`: the file is gone, or can't be read as one of these. */
  async #read(name: string): Promise<UsageFile | undefined> {
    const path = join(this.#options.folder, name);
    const changedMs = await stat(path).then((found) => found.mtimeMs, ifMissing(undefined));
    if (changedMs === undefined) return undefined;
    const known = this.#known.get(name);
    if (known?.changedMs === changedMs) return known.file;
    const value = parseJson(await readFile(path, 'utf8').catch(ifMissing('')));
    const file = fileReader.matches(value) ? value : undefined;
    if (!file) this.#options.log.warn('a file of usage is ignored: it has another form', { file: path });
    this.#known.set(name, { changedMs, file });
    return file;
  }

  /** A process with this one's number has ended: this one has it now. */
  #hasEnded(pid: number): boolean {
    return pid === this.#self.pid || !this.#options.isAlive(pid);
  }

  /** Removes what processes that were killed while writing have left behind. */
  async #removeTempFiles(): Promise<void> {
    const { folder } = this.#options;
    for (const name of await readdir(folder).catch(ifMissing([]))) {
      const [, pid] = tempName.exec(name) ?? [];
      if (pid !== undefined && this.#hasEnded(Number(pid))) await rm(join(folder, name), { force: true });
    }
  }
}

const fileName = /^((\d{1,10})-(\d{1,16}))(?:\.(\d{1,10})-\d{1,16})?\.json$/;
const tempName = /^(\d{1,10})-\d{1,16}\.json\..{1,64}\.tmp$/;

const plain = (record: UsageLedger['record']): Omit<UsageFile, 'absorbed'> => ({
  day: { key: record.day.key, clients: { ...record.day.clients } },
  month: { key: record.month.key, clients: { ...record.month.clients } },
});
