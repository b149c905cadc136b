import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { storeAnswers } from '../../../engine/store/queries.ts';
import { type Said, serveStore } from '../../../engine/store/serve-store.ts';
import { loadSqlite, type Sqlite } from '../../../engine/store/sqlite.ts';
import { openStore } from '../../../engine/store/store-thread.ts';
import { StoreWriter } from '../../../engine/store/writer.ts';
import { keptRequest, linesOf } from './requests.ts';

const dayMs = 86_400_000;
const now = 1_800_000_000_000;

const libraries = (['node:sqlite', 'libsql'] as const).flatMap((name) => loadSqlite(name) ?? []);

/** A folder with a store, by one library. */
class Rig {
  readonly warnings: string[] = [];
  readonly folder: string;
  readonly file: string;
  readonly older: string;
  readonly sqlite: Sqlite;
  #writer: StoreWriter | undefined;

  constructor(folder: string, sqlite: Sqlite) {
    this.folder = folder;
    this.file = join(folder, 'requests.db');
    this.older = join(folder, 'history');
    this.sqlite = sqlite;
  }

  get writer(): StoreWriter {
    this.#writer ??= this.other(this.sqlite);
    return this.#writer;
  }

  /** Another one, as after a start. */
  other(sqlite: Sqlite): StoreWriter {
    const warn = (message: string): void => void this.warnings.push(message);
    return new StoreWriter(
      sqlite,
      {
        file: this.file,
        older: { requests: this.older, usage: join(this.folder, 'none'), clients: join(this.folder, 'usage') },
      },
      warn,
    );
  }

  restart(): void {
    this.#writer?.close();
    this.#writer = undefined;
  }

  add(...ids: readonly string[]): void {
    this.writer.append(linesOf(ids.map((id) => keptRequest(id, now, { session: id }))));
  }

  /** The ids, newest first, as another connection sees them. */
  get ids(): string {
    const db = this.sqlite.open(this.file);
    try {
      const { lines } = storeAnswers(db).page({ filter: {}, sort: 'time', limit: 100_000 });
      return lines.map((line) => JSON.parse(line).id).join(' ');
    } finally {
      db.close();
    }
  }
}

const eachLibrary = (title: string, run: (t: ExecutionContext, rig: Rig) => Promise<void> | void): void => {
  for (const sqlite of libraries) {
    test(`${title}; ${sqlite.library}`, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'junctor-store-'));
      const rig = new Rig(folder, sqlite);
      t.teardown(async () => {
        rig.restart();
        await rm(folder, { recursive: true, force: true });
      });
      await run(t, rig);
    });
  }
};

test('a library runs here', (t) => t.true(libraries.length > 0));

eachLibrary('what was kept is there after a start, for its owner alone; other lines are left out', async (t, rig) => {
  rig.add('a', 'b');
  rig.writer.append('foreign\n{"endedAt":1}\n\n');
  rig.restart();
  rig.add('c');
  t.is(rig.ids, 'c b a');
  for (const name of await readdir(rig.folder)) t.is((await stat(join(rig.folder, name))).mode & 0o077, 0, name);
  rig.writer.clear();
  t.is(rig.ids, '');
  rig.restart();
  t.notRegex(await readFile(rig.file, 'latin1'), /endedAt/, 'what is deleted is gone from the disk');
  t.deepEqual(rig.warnings, []);
});

eachLibrary('age and size have bounds', async (t, rig) => {
  rig.writer.bound({ days: 30, bytes: 100_000_000 }, now);
  const at = (id: string, days: number) => keptRequest(id, now + days * dayMs, { session: id });
  rig.writer.append(linesOf([at('old', -31), at('newer', -29), at('newest', 0)]));
  rig.writer.prune(now);
  t.is(rig.ids, 'newest newer');
  rig.writer.prune(now + 29.5 * dayMs);
  t.is(rig.ids, 'newest');
  rig.writer.bound({ days: 30, bytes: 2_000_000 }, now);
  for (let n = 0; n < 40; n += 1) {
    rig.writer.append(linesOf(Array.from({ length: 250 }, (_, more) => at(`r${n * 250 + more}`, n / 100))));
  }
  const left = rig.ids.split(' ');
  t.true(left.length < 6_000 && left.length > 500 && left[0] === 'r9999', `${left.length} ${left[0]}`);
  t.true((await stat(rig.file)).size < 4_000_000);
  rig.writer.bound({ days: 0, bytes: 2_000_000 }, now);
  rig.add('none');
  t.is(rig.ids, '', 'what is no longer to be kept is removed');
});

eachLibrary('a file that is damaged is set aside, and a new one begins', async (t, rig) => {
  await writeFile(rig.file, 'no database '.repeat(1_000));
  rig.add('a');
  t.is(rig.ids, 'a');
  for (let n = 0; n < 400; n += 1) rig.add(`more-${n}`);
  rig.restart();
  const bytes = await readFile(rig.file);
  bytes.fill(0xff, 4_096);
  await writeFile(rig.file, bytes);
  rig.writer.check();
  rig.add('b');
  t.is(rig.ids, 'b');
  const warning = 'the file of requests is damaged and was set aside; a new one begins';
  t.deepEqual(rig.warnings, [warning, warning]);
  t.is((await readdir(rig.folder)).filter((name) => /^requests\.db\.damaged-\d+$/.test(name)).length, 2);
});

eachLibrary('a file of a later version is left alone', async (t, rig) => {
  rig.add('a');
  rig.restart();
  const db = rig.sqlite.open(rig.file);
  db.exec('PRAGMA user_version = 1000');
  db.close();
  rig.add('b');
  rig.writer.prune(now + 1_000 * dayMs);
  rig.add('c');
  t.is(rig.ids, 'a');
  t.is(rig.warnings.length, 1);
  t.regex(rig.warnings[0] ?? '', /later version/);
});

eachLibrary('a full disk or a locked file refuses the whole of a batch, and the next one is kept', (t, rig) => {
  rig.add('a');
  rig.restart();
  let isFull = true;
  const small: Sqlite = {
    ...rig.sqlite,
    open(file) {
      const db = rig.sqlite.open(file);
      if (isFull) db.exec('PRAGMA max_page_count = 40');
      return db;
    },
  };
  const full = rig.other(small);
  const many = linesOf(Array.from({ length: 500 }, (_, n) => keptRequest(`r${n}`, now)));
  t.throws(() => full.append(many), { any: true, message: /full/ });
  full.close();
  t.is(rig.ids, 'a');
  isFull = false;
  const roomy = rig.other(small);
  roomy.append(many);
  t.is(rig.ids.split(' ').length, 501);
  const locker = rig.sqlite.open(rig.file);
  locker.exec('BEGIN IMMEDIATE');
  t.throws(() => roomy.append(linesOf([keptRequest('late', now)])), { any: true, message: /locked/ });
  t.is(rig.ids.split(' ').length, 501, 'reading goes on');
  locker.exec('ROLLBACK');
  locker.close();
  roomy.append(linesOf([keptRequest('late', now)]));
  roomy.close();
  t.is(rig.ids.split(' ').length, 502);
});

eachLibrary('a file that is removed while it is written begins anew', async (t, rig) => {
  rig.add('a');
  for (const name of await readdir(rig.folder)) await rm(join(rig.folder, name));
  rig.add('b');
  t.is(rig.ids, 'b');
  t.deepEqual(rig.warnings, []);
});

eachLibrary('requests of earlier versions are taken over once, file by file', async (t, rig) => {
  await mkdir(rig.older);
  const name = (n: number) => join(rig.older, `${now + n}.17-${now}.jsonl`);
  await writeFile(name(1), linesOf([keptRequest('a', now), keptRequest('b', now + 1)]));
  await writeFile(name(2), `${linesOf([keptRequest('c', now + 2)])}{"endedAt":180000`);
  await writeFile(join(rig.older, 'notes.txt'), 'kept');
  await mkdir(name(3));
  const first = await readFile(name(1));
  t.true(rig.writer.convertNext());
  // A kill came before the file was removed.
  await writeFile(name(1), first);
  rig.restart();
  while (rig.writer.convertNext());
  t.is(rig.ids, 'c b a');
  t.deepEqual(await readdir(rig.older), [`${now + 3}.17-${now}.jsonl`, 'notes.txt']);
  t.false(rig.writer.convertNext());
  t.deepEqual(rig.warnings, []);
});

test('where no library runs nothing is kept, and that is said once', (t) => {
  const said: Said[] = [];
  const serve = serveStore((one) => said.push(one), undefined);
  serve({ role: 'write', file: '/nowhere/requests.db' });
  serve({ id: 1, name: 'append', query: { lines: linesOf([keptRequest('a', now)]), nowMs: now } });
  serve({ id: 2, name: 'append', query: { lines: linesOf([keptRequest('b', now)]), nowMs: now } });
  t.deepEqual(
    said.map((one) => (one.type === 'warning' ? one.message.split(':')[0] : one.type)),
    ['requests are kept in memory only', 'done', 'done'],
  );
});

test('a thread writes and another reads; neither holds the process, and the reader follows a new file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-store-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const warnings: string[] = [];
  const log = { warn: (message: string) => void warnings.push(message) };
  const file = join(folder, 'requests.db');
  const writer = openStore({ role: 'write', file }, log);
  const reader = openStore({ role: 'read', file }, log);
  t.teardown(() => Promise.all([writer.close(), reader.close()]));
  const ids = async (lines?: string): Promise<string> => {
    const page = await reader.ask('page', { filter: {}, sort: 'time', limit: 10 }, lines);
    return page.lines.map((line) => JSON.parse(line).id).join(' ');
  };
  t.is(await ids(), '', 'there is no file yet');
  const line = (id: string) => ({ lines: linesOf([keptRequest(id, now)]), nowMs: now });
  const bound = () => writer.ask('bound', { bounds: { days: 30, bytes: 100_000_000 }, nowMs: now });
  await t.throwsAsync(writer.ask('append', line('unbound')), { message: /bounds .* not known/ });
  await bound();
  await Promise.all([
    writer.ask('append', line('a')),
    writer.ask('append', { ...line('b'), lines: Buffer.from(line('b').lines) }),
  ]);
  t.is(await ids(), 'b a');
  t.is(await ids(line('apart').lines), 'apart', 'requests that are in no file');
  await t.throwsAsync(reader.ask('append', line('c')), { message: /writes nothing/ });
  await writer.close();
  for (const name of await readdir(folder)) await rm(join(folder, name));
  await bound();
  await writer.ask('append', line('anew'));
  t.is(await ids(), 'anew');
  t.deepEqual(warnings, []);
});
