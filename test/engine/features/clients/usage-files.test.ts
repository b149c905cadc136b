import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ClientTotals } from '../../../../engine/features/clients/usage.ts';
import { ClientUsageFile } from '../../../../engine/features/clients/usage-files.ts';

const nowMs = Date.parse('2026-01-30T12:00:00Z');

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-usage-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'usage');
};

/** The usage that a service keeps in a folder. */
const open = (folder: string) => {
  const warnings: string[] = [];
  const file = new ClientUsageFile({
    folder,
    log: { warn: (message) => void warnings.push(message) },
    nowMs: () => nowMs,
  });
  const add = async (used: Parameters<ClientTotals['addTo']>[1] = {}): Promise<number> => {
    const added = new ClientTotals(() => nowMs);
    if (Object.keys(used).length > 0) added.addTo('a', used);
    return (await file.add(added.record)).month.clients.a?.requests ?? 0;
  };
  return { file, add, warnings };
};

test('a restart goes on from what was written', async (t) => {
  const folder = await folderOf(t);
  const first = open(folder);
  t.is(await first.add(), 0);
  await first.file.write();
  t.deepEqual(await readdir(folder).catch(() => []), [], 'nothing is written without need');
  await first.add({ requests: 3, input: 10, output: 1, cost: 7 });
  await first.file.write();
  const second = open(folder);
  t.is(await second.add({ requests: 1 }), 4);
  await second.file.write();
  const third = open(folder);
  const { day } = await third.file.add(new ClientTotals(() => nowMs).record);
  t.deepEqual(day.clients, { a: { requests: 4, input: 10, output: 1, cost: 7, unpriced: 0 } });
  t.deepEqual(await readdir(folder), ['clients.json']);
  t.deepEqual(third.warnings, []);
});

/** The state of the folder at each point where a process that takes a file over may be killed. */
const interrupted: readonly (readonly [
  title: string,
  files: Readonly<Record<string, number | readonly [number, string]>>,
])[] = [
  ['before anything', { '1-1.json': 5 }],
  ['after the file is claimed', { '1-1.2-2.json': 5 }],
  ['after its own file is written', { '1-1.2-2.json': 5, '2-2.json': [5, '1-1'] }],
  ['after the claimed file is removed', { '2-2.json': [5, '1-1'] }],
  ['with what it counted itself', { '1-1.2-2.json': 5, '2-2.json': [5, '1-1'], '2-2.json.x.tmp': 0 }],
  ['amid a second claim', { '1-1.3-3.json': 5, '2-2.json': [5, '1-1'] }],
  ['while two take over', { '1-1.2-2.json': 3, '2-2.json': [3, '1-1'], '7-7.3-3.json': 2 }],
];

for (const [title, written] of interrupted) {
  test(`files of an older version, of which one was killed ${title}: nothing is lost and nothing counts twice`, async (t) => {
    const folder = await folderOf(t);
    await mkdir(folder);
    for (const [name, what] of Object.entries(written)) {
      const [requests, ...absorbed] = typeof what === 'number' ? [what] : what;
      const clients = { a: { requests, input: 0, output: 0 } };
      const file = { day: { key: '2026-01-30', clients }, month: { key: '2026-01', clients }, absorbed };
      await writeFile(join(folder, name), JSON.stringify(file));
    }
    t.is(await open(folder).add(), 5);
    t.deepEqual(await readdir(folder), ['clients.json']);
    // A kill may have left the older files.
    for (const [name, what] of Object.entries(written)) {
      const [requests] = typeof what === 'number' ? [what] : what;
      const clients = { a: { requests, input: 0, output: 0 } };
      const file = { day: { key: '2026-01-30', clients }, month: { key: '2026-01', clients }, absorbed: [] };
      await writeFile(join(folder, name), JSON.stringify(file));
    }
    t.is(await open(folder).add(), 5);
    t.is(await open(folder).add(), 5);
  });
}

test('files of another form and of other periods are ignored', async (t) => {
  const folder = await folderOf(t);
  await mkdir(folder);
  await writeFile(join(folder, '1-1.json'), '{"day":');
  await writeFile(
    join(folder, '2-2.json'),
    JSON.stringify({ day: { key: '2026-01-30', clients: { a: { requests: -1, input: 0, output: 0 } } } }),
  );
  await writeFile(join(folder, 'notes.txt'), 'mine');
  const clients = { a: { requests: 9, input: 0, output: 0 } };
  await writeFile(
    join(folder, '3-3.json'),
    JSON.stringify({ day: { key: '2025-01-30', clients }, month: { key: '2025-01', clients }, absorbed: [] }),
  );
  const { add, warnings } = open(folder);
  t.is(await add(), 0);
  t.is(warnings.length, 2);
  t.true((await readdir(folder)).includes('notes.txt'));
});

test('a folder that can not be written is warned of once, and written as soon as it can be', async (t) => {
  const folder = await folderOf(t);
  // Even the administrator of the machine can't write into a file.
  await writeFile(folder, '');
  const { file, add, warnings } = open(folder);
  await add({ requests: 1 });
  await file.write();
  await add({ requests: 1 });
  await file.write();
  t.is(warnings.length, 1);
  await rm(folder);
  await file.write();
  t.regex(await readFile(join(folder, 'clients.json'), 'utf8'), /"requests":2/);
});

test('a file that can not be read for a while is not written over', async (t) => {
  const folder = await folderOf(t);
  const first = open(folder);
  await first.add({ requests: 3 });
  await first.file.write();
  const path = join(folder, 'clients.json');
  await rename(path, `${path}.away`);
  // Reading a folder fails, whoever reads it.
  await mkdir(path);
  const second = open(folder);
  t.is(await second.add({ requests: 1 }), 1);
  await second.file.write();
  t.is(second.warnings.length, 1);
  await rm(path, { recursive: true });
  await rename(`${path}.away`, path);
  await second.file.write();
  t.is(await second.add({ requests: 1 }), 5);
  await second.file.write();
  t.is(await open(folder).add(), 5);
});
