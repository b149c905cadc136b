import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { Backups } from '../../../../engine/config/files/backups.ts';
import { temporaryHome } from './store-rig.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const startMs = Date.UTC(2026, 0, 31, 9, 30);

test("a backup's name has its time; content and mode are kept", async (t) => {
  const home = temporaryHome(t);
  const backups = new Backups(home, () => startMs);
  const name = await backups.add(bytes('text'));
  t.is(name, 'config.backup.2026-01-31T09-30-00-000Z.json');
  t.is(await readFile(join(home, name), 'utf8'), 'text');
  t.is((await stat(join(home, name))).mode & 0o777, 0o600);
  t.deepEqual(await backups.list(), [{ name, atMs: startMs, size: 4 }]);
  t.is(await backups.read(name), 'text');
});

test('backup names are unique and increase, even if the clock goes back', async (t) => {
  const clock = [startMs, startMs, startMs - 86_400_000, startMs + 5];
  const backups = new Backups(temporaryHome(t), () => clock.shift() ?? 0);
  const names: string[] = [];
  for (let count = 0; count < 4; count += 1) names.push(await backups.add(bytes(String(count))));
  t.deepEqual([...new Set(names)].sort(), names);
  t.deepEqual(
    (await backups.list()).map(({ name }) => name),
    names.toReversed(),
  );
});

test('the newest three are kept', async (t) => {
  const home = temporaryHome(t);
  const backups = new Backups(home, () => startMs);
  await writeFile(join(home, 'config.backup.mine.json'), 'mine');
  for (const text of ['1', '2', '3', '4', '5']) await backups.add(bytes(text));
  await backups.prune();
  const kept = await Promise.all((await backups.list()).map(({ name }) => backups.read(name)));
  t.deepEqual(kept, ['5', '4', '3']);
  t.true((await readdir(home)).includes('config.backup.mine.json'), 'what is not ours stays');
});

const stamp = '2026-01-31T09-30-00-000Z';
const names = [
  'config.json',
  '',
  '.',
  '..',
  `../config.backup.${stamp}.json`,
  `./config.backup.${stamp}.json`,
  `logs/config.backup.${stamp}.json`,
  'config.backup.2026-13-31T09-30-00-000Z.json',
  'config.backup.2026-01-31T09-30-00-001Z.json',
  'config.backup.2026-01-31T09-30-00-002Z.json',
  'config.backup.2026-01-31T09-30-00-003Z.json',
  `config.backup.${stamp}.json\0`,
  `config.backup.${stamp}.json.tmp`,
];

test('only listed plain files are read', async (t) => {
  const home = temporaryHome(t, '{}');
  const outside = join(temporaryHome(t, 'outside'), 'config.json');
  await symlink(outside, join(home, 'config.backup.2026-01-31T09-30-00-002Z.json'));
  await mkdir(join(home, 'config.backup.2026-01-31T09-30-00-003Z.json'));
  await mkdir(join(home, 'logs'));
  const backups = new Backups(home, () => startMs);
  await backups.add(bytes('ours'));
  for (const name of [...names, outside, join(home, `config.backup.${stamp}.json`)]) {
    t.is(await backups.read(name), undefined, name);
  }
  t.is(await backups.read(`config.backup.${stamp}.json`), 'ours');
  t.is((await backups.list()).length, 1);
});

test('no folder', async (t) => {
  t.deepEqual(await new Backups(join(temporaryHome(t), 'none')).list(), []);
});
