import { MessageChannel } from 'node:worker_threads';
import { storeAnswers } from '../../engine/store/queries.ts';
import { serveStore } from '../../engine/store/serve-store.ts';
import { type Database, loadSqlite } from '../../engine/store/sqlite.ts';
import { type OpenStore, openStoreIn } from '../../engine/store/store-thread.ts';
import { prepareToRead, prepareToWrite } from '../../engine/store/tables.ts';
import { type Counted, type Series, UsageTable, type UsageUnit } from '../../engine/store/usage.ts';

/** Opens the files of a store in this thread: tests start many services, and a thread of each would load its code anew. */
export const storeHere: OpenStore = openStoreIn(() => {
  const { port1, port2 } = new MessageChannel();
  port2.on(
    'message',
    serveStore((said) => port2.postMessage(said), loadSqlite()),
  );
  port2.unref();
  return {
    on: (event, listener) => (event === 'message' ? port1.on(event, listener) : undefined),
    postMessage: (message) => port1.postMessage(message),
    ref: () => port1.ref(),
    unref: () => port1.unref(),
    terminate: async () => port1.close(),
  };
});

/** The ids of all requests in a file, the newest first. */
export const idsIn = (file: string): readonly string[] => {
  const db = loadSqlite()?.open(file);
  try {
    const lines = db && prepareToRead(db) && storeAnswers(db).page({ filter: {}, sort: 'time', limit: 100_000 }).lines;
    return (lines || []).map((line) => JSON.parse(line).id);
  } finally {
    db?.close();
  }
};

/** Requests of a unit of time that begins at a time as `2026-01-31T08:05`. */
export interface UsageRow extends Counted {
  readonly unit: UsageUnit;
  readonly at: string;
  readonly series: Partial<Series>;
}

/** Adds sums to a file, which is made if there is none; returns it open. */
export const withUsage = (file: string, rows: readonly UsageRow[]): Database => {
  const db = loadSqlite()?.open(file);
  if (!db) throw new Error('No library runs here.');
  prepareToWrite(db);
  const table = new UsageTable(db);
  const none = { protocol: 'chat', scenario: '', provider: '', model: '', client: '' };
  for (const { unit, at, series, ...counted } of rows) {
    table.add(unit, Date.parse(at.length === 13 ? `${at}:00Z` : `${at}Z`), { ...none, ...series }, counted);
  }
  table.write();
  return db;
};
