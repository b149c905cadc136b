import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { KeptRequest } from '../../../engine/features/record/schema.ts';
import { usageReport } from '../../../engine/features/usage/report.ts';
import { loadSqlite } from '../../../engine/store/sqlite.ts';
import { noUsage } from '../../../engine/store/usage.ts';
import { type SumsQuery, usageIn } from '../../../engine/store/usage-cells.ts';
import { StoreWriter } from '../../../engine/store/writer.ts';
import { keptRequest, linesOf } from './requests.ts';

const start = Date.parse('2026-01-31T22:10:20Z');
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A store, and reports of it. */
class Rig {
  readonly folder: string;
  readonly older: { readonly requests: string; readonly usage: string; readonly clients: string };
  readonly file: string;
  #writer: StoreWriter | undefined;

  constructor(folder: string) {
    this.folder = folder;
    this.file = join(folder, 'requests.db');
    this.older = {
      requests: join(folder, 'history'),
      usage: join(folder, 'usage', 'hours'),
      clients: join(folder, 'usage'),
    };
  }

  get writer(): StoreWriter {
    const sqlite = loadSqlite();
    if (!sqlite) throw new Error('No library runs here.');
    this.#writer ??= new StoreWriter(sqlite, { file: this.file, older: this.older }, (message) => {
      throw new Error(message);
    });
    return this.#writer;
  }

  restart(): void {
    this.#writer?.close();
    this.#writer = undefined;
  }

  add(...requests: readonly KeptRequest[]): void {
    this.writer.append(linesOf(requests));
  }

  report(more: Partial<SumsQuery> = {}) {
    const query = { fromMs: 0, toMs: start + 1_000 * dayMs, by: 'all', step: 'none', unit: 'hour', ...more } as const;
    const db = loadSqlite()?.open(this.file);
    if (!db) throw new Error('No library runs here.');
    try {
      return usageReport(query, usageIn(db, query));
    } finally {
      db.close();
    }
  }

  /** The requests of each step, as `22:10:20 p 3`. */
  steps(more: Partial<SumsQuery>): readonly string[] {
    return this.report(more).rows.map(({ from, name, requests }) => `${from?.slice(11, 19)} ${name} ${requests}`);
  }
}

const rigOf = async (t: ExecutionContext): Promise<Rig> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-usage-'));
  const rig = new Rig(folder);
  t.teardown(async () => {
    rig.restart();
    await rm(folder, { recursive: true, force: true });
  });
  return rig;
};

test('requests are counted by 5 seconds, minute and hour, also those that are not kept', async (t) => {
  const rig = await rigOf(t);
  const usage = { input: 10, cacheRead: 4, output: 2 };
  const known = { usage, cost: 100, defaultCost: 250, charged: true, client: 'team', scenario: 'default' };
  rig.add(keptRequest('a', start, known), keptRequest('b', start + 5_000, known));
  rig.restart();
  rig.add(keptRequest('c', start + hourMs, { ...known, losses: [], lossesOmitted: 3, retries: 2 }));
  rig.writer.bound({ days: 0, bytes: 1_000_000_000 }, start);
  rig.add(keptRequest('d', start + hourMs, { status: 500, charged: true, usage: { input: 1 } }));
  const { total } = rig.report();
  t.like(total, { requests: 4, errors: 1, retries: 2, losses: 3, input: 31, cacheRead: 12, output: 6 });
  t.like(total, { cost: 300, saved: 450, unpriced: 1, uncompared: 1, uncounted: 1 });
  t.deepEqual(rig.steps({ unit: '5s', step: '5s', by: 'client' }), [
    '22:10:20 team 1',
    '22:10:25 team 1',
    '23:10:20 team 1',
    '23:10:20 null 1',
  ]);
  t.deepEqual(rig.steps({ unit: 'minute', step: 'minute' }), ['22:10:00 null 2', '23:10:00 null 2']);
  t.deepEqual(rig.steps({ step: 'hour', by: 'model' }), ['22:00:00 p,m 2', '23:00:00 p,m 2']);
  rig.writer.clear();
  t.is(rig.report().total.requests, 4, 'a cleared history leaves the sums');
  for (const [days, left] of [
    [0.1, [0, 4, 4]],
    [3, [0, 0, 4]],
    [401, [0, 0, 0]],
  ] as const) {
    rig.writer.prune(start + days * dayMs);
    const counts = (['5s', 'minute', 'hour'] as const).map((unit) => rig.report({ unit }).total.requests);
    t.deepEqual(counts, left, `${days} days`);
  }
});

test('percentiles of times are within 12 %, and odd figures spoil no sum', async (t) => {
  const rig = await rigOf(t);
  rig.add(
    ...Array.from({ length: 1_000 }, (_, n) =>
      keptRequest(`r${n}`, start + (n < 400 ? 0 : hourMs), {
        durationMs: 10 * (n + 1),
        firstByteMs: n + 1,
        overheadMs: 0,
      }),
    ),
  );
  const { firstByteMs, durationMs, overheadMs } = rig.report().total;
  for (const [times, scale] of [
    [firstByteMs, 1],
    [durationMs, 10],
  ] as const) {
    for (const [name, exact] of [
      ['p50', 500],
      ['p95', 950],
      ['p99', 990],
    ] as const) {
      const ratio = (times?.[name] ?? 0) / (exact * scale);
      t.true(ratio > 0.88 && ratio < 1.12, `${name}: ${ratio}`);
    }
  }
  t.true((overheadMs?.p99 ?? 1) < 0.2);
  for (const value of [-1, 1e30, 1.5]) {
    rig.add(keptRequest('odd', start, { usage: { input: value, output: value }, cost: value, charged: true }));
  }
  const { input, cost, unpriced } = rig.report().total;
  t.deepEqual({ input, cost, unpriced }, { input: 2 ** 32 + 2, cost: 2 ** 44 + 2, unpriced: 1 });
});

test('a unit of time has a thousand rows; what comes beyond is summed up by protocol and client', async (t) => {
  const rig = await rigOf(t);
  const requests = (from: number) =>
    Array.from({ length: 600 }, (_, n) =>
      keptRequest('r', start, { model: `m${from + n}`, client: n % 2 ? 'a' : 'b' }),
    );
  rig.add(...requests(0));
  rig.add(...requests(600));
  rig.restart();
  rig.add(...requests(1_200));
  t.is(rig.report().total.requests, 1_800);
  t.like(
    rig.report({ by: 'model' }).rows.find(({ name }) => name === 'other,other'),
    { requests: 800 },
  );
  t.deepEqual(
    rig
      .report({ by: 'client' })
      .rows.map(({ name, requests: count }) => [name, count])
      .toSorted(),
    [
      ['a', 900],
      ['b', 900],
    ],
  );
});

test('names of models that clients make up are removed once they are many and have no sums', async (t) => {
  const rig = await rigOf(t);
  const made = Array.from({ length: 21_000 }, (_, at) => keptRequest(`r${at}`, start, { model: `m${at}` }));
  rig.add(...made);
  const total = rig.report();
  const db = loadSqlite()?.open(rig.file);
  t.teardown(() => db?.close());
  const series = (): number => Number(db?.prepare('SELECT COUNT(*) AS count FROM series').get()?.count);
  t.is(series(), made.length + 1);
  rig.writer.prune(start);
  // A thousand rows of each unit of time, and the one for the rest.
  t.true(series() <= 1_001, `${series()} series`);
  t.deepEqual(rig.report(), total);
  rig.add(keptRequest('last', start, { model: 'm0' }));
  t.is(rig.report().total.requests, made.length + 1);
});

test('the files of earlier versions are taken over, each hour, minute and step once', async (t) => {
  const rig = await rigOf(t);
  const folder = rig.older.usage;
  await mkdir(folder, { recursive: true });
  const row = (requests: number, more: object = {}) => ({
    ...{ protocol: 'chat', scenario: '', provider: 'p', model: 'm', client: '', ...noUsage },
    ...{ requests, cost: requests * 10, ...more },
  });
  const record = (id: string, requests: number, more: object = {}) => ({ id, rows: [row(requests)], ...more });
  const linesIn = (...records: readonly object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('');
  const minute = record('2026-01-31T22:10.7-1', 2);
  const hour = record('2026-01-31T22.7-1', 5, { minute });
  const files = {
    '2026-01.jsonl': linesIn(
      record('2026-01-30T08.3-1', 100),
      record('2026-01-31T21.7-1', 20),
      record('2026-01-31T21.7-1', 20),
    ),
    '2026-01-31.jsonl': linesIn(record('2026-01-31T22:09.7-1', 5), record('2026-01-31T21:59.7-1', 20)),
    '2026-01-31T22.jsonl': linesIn(record('2026-01-31T22:09:55.7-1', 1), record('2026-01-31T22:10:00.7-1', 2)),
    '2026-01-31T22.7-1.json': JSON.stringify(hour),
    // A kill came after its line was added.
    '2026-01-31T21.7-1.json': JSON.stringify(record('2026-01-31T21.7-1', 20)),
    '2026-01-31T20.9-1.json': '{"id":"2026-01-31T20.9-1","rows":[{"protocol":"chat","requests":7}]}',
    '2026-01-31T23.7-1.json.abc.tmp': 'half',
    'notes.txt': 'foreign',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  // As after a kill before the first file was removed.
  rig.writer.convertNext();
  await writeFile(join(folder, '2026-01-31.jsonl'), files['2026-01-31.jsonl']);
  rig.restart();
  while (rig.writer.convertNext());
  rig.add(keptRequest('new', start));
  t.deepEqual(await readdir(folder), ['notes.txt']);
  t.deepEqual(rig.steps({ step: 'hour' }), [
    '08:00:00 null 100',
    '20:00:00 null 7',
    '21:00:00 null 20',
    '22:00:00 null 8',
  ]);
  t.deepEqual(rig.steps({ unit: 'minute', step: 'minute' }), [
    '21:59:00 null 20',
    '22:09:00 null 5',
    '22:10:00 null 3',
  ]);
  t.deepEqual(rig.steps({ unit: '5s', step: '5s' }), ['22:09:55 null 1', '22:10:00 null 2', '22:10:20 null 1']);
  t.is(rig.report().total.cost, 1_270);
  t.true(minuteMs < hourMs);
});
