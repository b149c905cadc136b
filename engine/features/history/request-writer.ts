import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileWork } from '../../observe/log/file-work.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import type { KeptUse, LineBatch } from '../../store/client-use.ts';
import type { Jobs } from '../../store/serve-store.ts';
import { type OpenStore, type StoreChannel, storeFile } from '../../store/store-thread.ts';
import type { StoreBounds } from '../../store/writer.ts';
import type { HistoryWriter } from './flush-lines.ts';

interface KeptOptions {
  /** The service's folder. */
  readonly home: string;
  readonly log: Pick<AppLog, 'warn'>;
  readonly openStore: OpenStore;
  /** Milliseconds since 1970, by the earlier of both clocks: one that jumps ahead makes nothing too old. */
  readonly nowMs: () => number;
}

/** Milliseconds after which what is too old is removed. */
const pruneMs = 600_000;

/** The store of the requests of all processes. Its thread starts with the first one, or where an earlier start has left work. */
export class RequestWriter implements Omit<HistoryWriter, 'append'> {
  readonly #options: KeptOptions;
  readonly #file: string;
  readonly #older: { readonly requests: string; readonly usage: string; readonly clients: string };
  readonly #store: StoreChannel;
  readonly #work: FileWork;
  #bounds: StoreBounds | undefined;
  /** Whether the thread knows the bounds: one that failed has another in its place, which doesn't. */
  #isBound = false;
  #isRunning = false;
  #prunedAtMs: number;

  constructor(options: KeptOptions) {
    const { home, log, openStore, nowMs } = options;
    this.#options = options;
    this.#file = storeFile(home);
    const usage = join(home, 'usage');
    this.#older = { requests: join(home, 'history'), usage: join(usage, 'hours'), clients: usage };
    this.#store = openStore({ role: 'write', file: this.#file, older: this.#older }, log);
    this.#work = new FileWork(log, this.#file, "the history of requests can't be tidied");
    this.#prunedAtMs = nowMs();
  }

  async bound(bounds: StoreBounds): Promise<void> {
    this.#bounds = bounds;
    this.#isBound = false;
    const leftWork = this.#hasOlder() || (bounds.days === 0 && existsSync(this.#file));
    if (this.#isRunning || leftWork) await this.#begin();
  }

  async append(lines: string | Uint8Array, batch?: LineBatch): Promise<KeptUse | null> {
    await this.#begin();
    return this.#asked('append', { lines, batch, nowMs: this.#options.nowMs() });
  }

  async clear(): Promise<void> {
    if (!existsSync(this.#file) && !this.#hasOlder()) return;
    await this.#begin();
    await this.#asked('clear', null);
  }

  async check(): Promise<void> {
    await this.#begin();
    await this.#asked('check', null);
  }

  /** Removes what is too old, from time to time. Never rejects. */
  async tend(): Promise<void> {
    const nowMs = this.#options.nowMs();
    if (nowMs - this.#prunedAtMs < pruneMs || !existsSync(this.#file)) return;
    this.#prunedAtMs = nowMs;
    await this.#work.run(async () => {
      await this.#begin();
      await this.#asked('prune', { nowMs });
    });
  }

  /** Never rejects. */
  close(): Promise<void> {
    this.#isRunning = false;
    return this.#store.close();
  }

  #hasOlder(): boolean {
    return Object.values(this.#older).some((folder) => existsSync(folder));
  }

  async #begin(): Promise<void> {
    this.#isRunning = true;
    const bounds = this.#bounds;
    if (this.#isBound || !bounds) return;
    await this.#asked('bound', { bounds, nowMs: this.#options.nowMs() });
    this.#isBound = bounds === this.#bounds;
  }

  async #asked<Name extends keyof Jobs>(name: Name, query: Jobs[Name]['query']): Promise<Jobs[Name]['answer']> {
    try {
      return await this.#store.ask(name, query);
    } catch (error) {
      this.#isBound = false;
      throw error;
    }
  }
}
