import { createStore, type Store } from '../../state/store.ts';
import type { Passes } from './log-filter.ts';
import { type LogRecord, readRecord } from './log-record.ts';

/** What a log list shows. */
export interface LogView {
  /** Matching records, oldest first. The list is shared and grows: `length` bounds this view. */
  readonly shown: readonly LogRecord[];
  readonly length: number;
  /** All records, matching or not. */
  readonly total: number;
  /** Oldest records discarded since the file was opened. */
  readonly dropped: number;
  /** How many of those matched the filter. */
  readonly shownDropped: number;
  /** Filtering is in progress. */
  readonly busy: boolean;
}

/** The view before anything is read. */
const emptyView: LogView = { shown: [], length: 0, total: 0, dropped: 0, shownDropped: 0, busy: false };

/** The most records kept; older ones are discarded. */
export const mostRecords = 200_000;

/** The longest that the page is blocked at once, in milliseconds; a frame at 60 Hz takes 16. */
const sliceMs = 8;

/**
 * The records of one file, and those that match a filter. Parsing and filtering run in slices, so that the page stays
 * responsive.
 */
export class LogBook {
  readonly view: Store<LogView> = createStore(emptyView);
  #records: LogRecord[] = [];
  #shown: LogRecord[] = [];
  #passes: Passes;
  #read = 0;
  #dropped = 0;
  #shownDropped = 0;
  /** Index of the next record to filter. */
  #seen = 0;
  #filtering = false;
  #ownRequests = new Set<string>();

  constructor(passes: Passes) {
    this.#passes = passes;
  }

  /** Appends lines. Resolves when more may be added. */
  async add(lines: readonly string[]): Promise<void> {
    let until = performance.now() + sliceMs;
    for (const line of lines) {
      this.#records.push(readRecord(line, this.#read, this.#ownRequests));
      this.#read += 1;
      if (performance.now() < until) continue;
      await pause();
      until = performance.now() + sliceMs;
    }
    this.#trim();
    await this.#filterRest();
  }

  /** Applies another filter. */
  filter(passes: Passes): void {
    this.#passes = passes;
    this.#shown = [];
    this.#shownDropped = 0;
    this.#seen = 0;
    void this.#filterRest();
  }

  /** Discards all records. */
  clear(): void {
    this.#records = [];
    this.#shown = [];
    this.#seen = 0;
    this.#dropped = 0;
    this.#shownDropped = 0;
    this.#ownRequests.clear();
    this.#publish();
  }

  /** All lines, each with its line break. */
  lines(): string[] {
    return this.#records.map(({ line }) => `${line}\n`);
  }

  /** Filters the records that are left; one run at a time. */
  async #filterRest(): Promise<void> {
    if (this.#filtering) return;
    this.#filtering = true;
    while (this.#seen < this.#records.length) {
      this.#filterSlice();
      this.#publish();
      if (this.#seen < this.#records.length) await pause();
    }
    this.#filtering = false;
    this.#publish();
  }

  #filterSlice(): void {
    const until = performance.now() + sliceMs;
    // Reading the clock costs as much as testing a record.
    do {
      for (const record of this.#records.slice(this.#seen, this.#seen + 100)) {
        if (this.#passes(record)) this.#shown.push(record);
        this.#seen += 1;
      }
    } while (this.#seen < this.#records.length && performance.now() < until);
  }

  /** Discards in large steps: each one copies what stays. */
  #trim(): void {
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

  #publish(): void {
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

/** Yields to the event loop. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
