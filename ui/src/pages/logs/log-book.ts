import { createStore, type Store } from '../../state/store.ts';
import type { Passes } from './log-filter.ts';
import { type LogRecord, readRecord } from './log-record.ts';

/** What there is to show. */
export interface LogView {
  /** The records that pass, oldest first. The same list grows: `length` tells how much of it this view is. */
  readonly shown: readonly LogRecord[];
  readonly length: number;
  /** How many there are, with those that don't pass. */
  readonly total: number;
  /** Records of the beginning that were let go since the file was opened. */
  readonly dropped: number;
  /** How many of them had been shown by this filter. */
  readonly shownDropped: number;
  /** Not all records have been looked at yet. */
  readonly busy: boolean;
}

/** Nothing yet. */
const emptyView: LogView = { shown: [], length: 0, total: 0, dropped: 0, shownDropped: 0, busy: false };

/** No more records are kept; the oldest go first. */
export const mostRecords = 200_000;

/** So long the page may be held up at once, in milliseconds: a frame at 60 Hz takes 16. */
const sliceMs = 8;

/**
 * The records of one file, and those among them that pass a filter. Lines are read and records looked through in slices, between
 * which the page goes on.
 */
export class LogBook {
  readonly view: Store<LogView> = createStore(emptyView);
  #records: LogRecord[] = [];
  #shown: LogRecord[] = [];
  #passes: Passes;
  #read = 0;
  #dropped = 0;
  #shownDropped = 0;
  /** Records before this one have been looked at. */
  #seen = 0;
  #sifting = false;
  #ownRequests = new Set<string>();

  constructor(passes: Passes) {
    this.#passes = passes;
  }

  /** Adds lines at the end. Resolves when more may come. */
  async add(lines: readonly string[]): Promise<void> {
    let until = performance.now() + sliceMs;
    for (const line of lines) {
      this.#records.push(readRecord(line, this.#read, this.#ownRequests));
      this.#read += 1;
      if (performance.now() < until) continue;
      await pause();
      until = performance.now() + sliceMs;
    }
    this.#letGo();
    await this.#sift();
  }

  /** Shows those that pass another filter. */
  filter(passes: Passes): void {
    this.#passes = passes;
    this.#shown = [];
    this.#shownDropped = 0;
    this.#seen = 0;
    void this.#sift();
  }

  /** Forgets all records. */
  clear(): void {
    this.#records = [];
    this.#shown = [];
    this.#seen = 0;
    this.#dropped = 0;
    this.#shownDropped = 0;
    this.#ownRequests.clear();
    this.#tell();
  }

  /** All lines, as one text in pieces. */
  lines(): string[] {
    return this.#records.map(({ line }) => `${line}\n`);
  }

  /** Looks through the records that haven't been looked at; one such walk at a time. */
  async #sift(): Promise<void> {
    if (this.#sifting) return;
    this.#sifting = true;
    while (this.#seen < this.#records.length) {
      this.#siftSlice();
      this.#tell();
      if (this.#seen < this.#records.length) await pause();
    }
    this.#sifting = false;
    this.#tell();
  }

  #siftSlice(): void {
    const until = performance.now() + sliceMs;
    // Asking for the time costs as much as looking at a record.
    do {
      for (const record of this.#records.slice(this.#seen, this.#seen + 100)) {
        if (this.#passes(record)) this.#shown.push(record);
        this.#seen += 1;
      }
    } while (this.#seen < this.#records.length && performance.now() < until);
  }

  /** In large steps: each moves all that stay. */
  #letGo(): void {
    const excess = this.#records.length - mostRecords;
    if (excess < mostRecords / 20) return;
    const first = this.#records[excess]?.n ?? 0;
    this.#records = this.#records.slice(excess);
    this.#seen = Math.max(0, this.#seen - excess);
    this.#dropped += excess;
    const staying = this.#shown.filter(({ n }) => n >= first);
    this.#shownDropped += this.#shown.length - staying.length;
    this.#shown = staying;
  }

  #tell(): void {
    this.view.set({
      shown: this.#shown,
      length: this.#shown.length,
      total: this.#records.length,
      dropped: this.#dropped,
      shownDropped: this.#shownDropped,
      busy: this.#seen < this.#records.length,
    });
  }
}

/** Lets the page do what waits. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
