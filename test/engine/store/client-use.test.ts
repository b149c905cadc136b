import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { KeptRequest } from '../../../engine/features/record/schema.ts';
import { type KeptUse, UseSums } from '../../../engine/store/client-use.ts';
import { type Said, serveStore } from '../../../engine/store/serve-store.ts';
import { loadSqlite } from '../../../engine/store/sqlite.ts';
import { keptRequest, linesOf } from './requests.ts';

const nowMs = Date.parse('2026-01-30T12:00:00Z');
const libraries = [...(['node:sqlite', 'libsql'] as const).filter((name) => loadSqlite(name)), undefined];

/** What serves a folder's store; `library`: absent: none runs. */
const serve = (home: string, library: (typeof libraries)[number]) => {
  const said: Said[] = [];
  const handle = serveStore((one) => said.push(one), library && loadSqlite(library));
  const usage = join(home, 'usage');
  const older = { requests: join(home, 'history'), usage: join(usage, 'hours'), clients: usage };
  handle({ role: 'write', file: join(home, 'requests.db'), older });
  const job = (asked: Parameters<typeof handle>[0]): unknown => {
    handle(asked);
    const last = said.at(-1);
    if (last?.type === 'failed') throw new Error(last.problem);
    return last?.type === 'done' ? last.answer : undefined;
  };
  const bound = () => job({ id: 1, name: 'bound', query: { bounds: { days: 30, bytes: 100_000_000 }, nowMs } });
  bound();
  const append = (lines: string, n?: number, atMs = nowMs): KeptUse => {
    const batch = n === undefined ? undefined : { writer: 'w', n };
    const answer = job({ id: 2, name: 'append', query: { lines, batch, nowMs: atMs } });
    if (!isKept(answer)) throw new Error('Nothing is kept.');
    return answer;
  };
  const close = (): void => void job({ id: 3, name: 'close', query: null });
  return { append, close, said };
};

const isKept = (answer: unknown): answer is KeptUse => typeof answer === 'object' && answer !== null && 'all' in answer;

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-use-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

const request = (id: string, client: string, more: Partial<KeptRequest> = {}): KeptRequest =>
  keptRequest(id, nowMs, { client, admitted: true, usage: { input: 5, cacheRead: 2, output: 3 }, cost: 10, ...more });

const used = (requests: number) => ({
  requests,
  input: 7 * requests,
  output: 3 * requests,
  cost: 10 * requests,
  unpriced: 0,
});

for (const library of libraries) {
  test(`${library ?? 'no library'}: what clients use is kept once per batch, also across starts`, async (t) => {
    const home = await folderOf(t);
    const first = serve(home, library);
    t.deepEqual(first.append('').all['2026-01'] ?? {}, {});
    const refused = keptRequest('c', nowMs, { client: 'a', status: 429 });
    const lines = linesOf([
      request('a', 'a'),
      request('b', 'b'),
      refused,
      request('old', 'a', { endedAt: nowMs - 86_400_000 }),
    ]);
    const kept = first.append(lines, 1);
    t.deepEqual(kept.added, { '2026-01-30': { a: used(1), b: used(1) }, '2026-01': { a: used(2), b: used(1) } });
    // The answer was lost: the process tries again.
    const again = first.append(lines, 1);
    t.deepEqual(again.added, kept.added);
    t.deepEqual(again.all['2026-01'], { a: used(2), b: used(1) });
    first.close();
    const second = serve(home, library);
    t.deepEqual(second.append(lines, 1).all['2026-01'], { a: used(2), b: used(1) });
    t.like(second.append(linesOf([request('d', 'a')]), 2).all['2026-01'], { a: used(3) });
    t.deepEqual(second.append('').all, {
      '2026-01-30': { a: used(2), b: used(1) },
      '2026-01': { a: used(3), b: used(1) },
    });
    second.close();
  });

  /** The state of the folder at each point where a process of an older version that takes a file over may be killed. */
  const interrupted = {
    'the last version without a store': { 'clients.json': 5 },
    'before anything': { '1-1.json': 5 },
    'after the file is claimed': { '1-1.2-2.json': 5 },
    'after its own file is written': { '1-1.2-2.json': 5, 'clients.json': [5, '1-1'], 'clients.json.x.tmp': 0 },
    'amid a second claim': { '1-1.3-3.json': 5, '2-2.json': [5, '1-1'] },
    'while two take over': { '1-1.2-2.json': 3, '2-2.json': [3, '1-1'], '7-7.3-3.json': 2 },
  } as const satisfies Readonly<Record<string, Readonly<Record<string, number | readonly [number, string]>>>>;

  test(`${library ?? 'no library'}: files of older versions are taken over, wherever a kill came in between`, async (t) => {
    for (const [title, files] of Object.entries(interrupted)) {
      const home = await folderOf(t);
      const folder = join(home, 'usage');
      const write = async (): Promise<void> => {
        await mkdir(folder, { recursive: true });
        for (const [name, what] of Object.entries(files)) {
          const [requests, ...absorbed] = typeof what === 'number' ? [what] : what;
          const clients = { a: { requests, input: 0, output: 0 } };
          const file = { day: { key: '2026-01-30', clients }, month: { key: '2026-01', clients }, absorbed };
          await writeFile(join(folder, name), JSON.stringify(file));
        }
      };
      const count = (): number => {
        const { append, close } = serve(home, library);
        const { a } = append('').all['2026-01'] ?? {};
        close();
        return a?.requests ?? 0;
      };
      await write();
      if (library) t.is(count(), 5, title);
      if (library) t.false(existsSync(folder), title);
      // A kill came before they were removed.
      await write();
      t.is(count(), 5, title);
    }
  });
}

test('what was kept without a library is taken over when there is one, each time', async (t) => {
  const home = await folderOf(t);
  for (const n of [1, 2]) {
    const without = serve(home, undefined);
    without.append(linesOf([request('a', 'a')]), n);
    t.deepEqual(await readdir(join(home, 'usage')), ['clients.json']);
    const other = serve(home, libraries[0]);
    t.deepEqual(other.append('').all['2026-01'], { a: used(n) });
    other.close();
    t.false(existsSync(join(home, 'usage')));
  }
});

test('files of another form are left, and said; a folder that can not be written refuses the batch', async (t) => {
  const home = await folderOf(t);
  const folder = join(home, 'usage');
  await mkdir(folder);
  await writeFile(join(folder, '1-1.json'), '{"day":');
  await writeFile(join(folder, 'notes.txt'), 'mine');
  const { append, close, said } = serve(home, libraries[0]);
  t.deepEqual(append('').all['2026-01'], {});
  t.deepEqual(
    said.flatMap((one) => (one.type === 'warning' ? [one.message, one.detail] : [])),
    ['a file of usage is ignored: it has another form', '1-1.json'],
  );
  close();
  t.deepEqual(await readdir(folder), ['1-1.json', 'notes.txt']);
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  const without = serve(home, undefined);
  t.throws(() => without.append(linesOf([request('a', 'a')]), 1));
  await rm(folder);
  t.like(without.append(linesOf([request('a', 'a')]), 1).all['2026-01'], { a: used(1) });
});

test('budgets outlast a file of requests that is damaged, as far as it can be read', async (t) => {
  const home = await folderOf(t);
  const first = serve(home, libraries[0]);
  first.append(linesOf([request('a', 'a')]), 1);
  for (let n = 2; n < 400; n += 1) first.append(linesOf([keptRequest(`r${n}`, nowMs)]), n);
  first.close();
  const file = join(home, 'requests.db');
  const bytes = await readFile(file);
  bytes.fill(0xff, bytes.length - 40_960);
  await writeFile(file, bytes);
  const second = serve(home, libraries[0]);
  second.append(linesOf([request('z', 'a')]), 400);
  const { all } = second.append('');
  t.like(all['2026-01'], { a: used(2) });
  second.close();
});

test('the clients that are remembered have a bound', (t) => {
  const sums = new UseSums();
  for (let n = 0; n < 6_000; n += 1) sums.addAt(0, `client-${n}`, { requests: 1 });
  t.is(Object.keys(sums.at(0)['1970-01'] ?? {}).length, 5_000);
  t.is(sums.of('1970-01', 'client-5999').requests, 1);
});
