import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { isOfDay, isServerLogName, serverLogName, serverLogPolicy } from '../../../../engine/observe/log/log-policy.ts';

const at = new Date(2026, 0, 2, 3, 4, 5);

test('a name is the local time of its beginning', (t) => {
  t.is(serverLogName(at), 'junctor-20260102030405.log');
  t.true(isServerLogName(serverLogName(at)));
});

test('a name has its day', (t) => {
  t.true(isOfDay('junctor-20260102235959.log', at));
  t.false(isOfDay('junctor-20260103000000.log', at));
});

for (const name of [
  'app.log',
  '.roll',
  'junctor-2026.log',
  'junctor-20260102030405.log.1',
  '../junctor-20260102030405.log',
]) {
  test(`${name} is no server log`, (t) => t.false(isServerLogName(name)));
}

test('server logs of the former name give way like others, by their age', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-former-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const folder = join(home, 'logs');
  await mkdir(folder);
  const names = [
    'yardgate-20250101000000.log',
    'yardgate-20250102000000.log',
    'yardgate-notes.log',
    'junctor-20250103000000.log',
    'junctor-20250104000000.log',
  ];
  for (const name of names) await writeFile(join(folder, name), '');
  serverLogPolicy(home).prune(join(folder, names[4] ?? ''));
  t.deepEqual((await readdir(folder)).sort(), [...names.slice(3), ...names.slice(1, 3)]);
});
