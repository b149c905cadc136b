import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { readStateKeys } from '../../../engine/config/sections/fleet.ts';
import { BlobJournal } from '../../../engine/hub/blob-journal.ts';
import { createSealer } from '../../../engine/hub/seal.ts';

test('what is sealed is opened by its name and key alone, and not after any change', (t) => {
  const [one, two] = [randomBytes(32), randomBytes(32)];
  const sealer = createSealer([one]);
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.nat(), (name, text, at) => {
      const sealed = sealer.seal(name, text);
      const opened = (value: string, by = sealer, plainName = name) => {
        const found = by.lookups(plainName).find((lookup) => lookup.name === sealed.name);
        return found?.open(value);
      };
      const bytes = Buffer.from(sealed.value, 'base64');
      bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ 1;
      return (
        opened(sealed.value) === text &&
        opened(bytes.toString('base64')) === undefined &&
        opened(sealed.value, sealer, `${name}x`) === undefined &&
        opened(sealed.value, createSealer([two])) === undefined &&
        // After a change of keys, the earlier one still opens.
        opened(sealed.value, createSealer([two, one])) === text &&
        sealer.lookups(`${name}x`)[0]?.open(sealed.value) === undefined &&
        sealer.seal(name, text).value !== sealed.value
      );
    }),
  );
  t.pass();
});

test('keys are 32 bytes as base64 or hexadecimal digits', (t) => {
  const key = randomBytes(32);
  const keysIn = (text: string) => readStateKeys({ JUNCTOR_STATE_KEY: text });
  t.deepEqual(keysIn(`${key.toString('hex')}, ${key.toString('base64')}`), [key, key]);
  t.deepEqual([readStateKeys({}), keysIn(''), keysIn(' , ')], [[], [], []]);
  for (const text of ['short', key.toString('hex').slice(1), `${key.toString('base64')},x`]) {
    t.throws(() => keysIn(text), { message: /JUNCTOR_STATE_KEY must be 32 bytes/ });
  }
});

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-journal-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

test('a journal gives back what has not expired, and keeps no more than it may', async (t) => {
  const folder = await folderOf(t);
  const path = join(folder, 'sealed');
  const clock = { ms: 1_000 };
  const lines: string[] = [];
  const open = () =>
    new BlobJournal({ path, maxBytes: 4_000, now: () => clock.ms, report: (line) => lines.push(line) });
  const journal = open();
  t.deepEqual(journal.read(), []);
  t.deepEqual(await readdir(folder), [], 'nothing is written before there is something to keep');
  journal.append({ name: 'a', value: 'va', forMs: 500 });
  journal.append({ name: 'b', value: 'vb', forMs: 900 });
  journal.flush();
  t.is((await stat(path)).mode & 0o777, 0o600);
  await appendFile(path, '{"name":"c","val');
  clock.ms += 600;
  t.deepEqual(open().read(), [{ name: 'b', value: 'vb', forMs: 300 }]);
  t.false((await readFile(path, 'utf8')).includes('"va"'), 'the expired is gone from the disk too');

  const many = open();
  many.read();
  for (let count = 0; count < 500; count += 1) {
    many.append({ name: `n${count}`, value: 'x'.repeat(50), forMs: 10_000 });
    many.flush();
  }
  const sizes = await Promise.all((await readdir(folder)).map(async (file) => (await stat(join(folder, file))).size));
  t.true(sizes.reduce((sum, size) => sum + size, 0) <= 4_000, sizes.join());
  const kept = open().read();
  t.is(kept.at(-1)?.name, 'n499', 'the newest are kept');
  t.true(kept.length > 10);
  t.deepEqual(lines, []);
});

test('a journal that can not be written says so once', async (t) => {
  const lines: string[] = [];
  const journal = new BlobJournal({
    path: join(await folderOf(t), 'is-a-file', 'x').replace('is-a-file', '\0'),
    report: (line) => lines.push(line),
  });
  t.deepEqual(journal.read(), []);
  for (let count = 0; count < 3; count += 1) {
    journal.append({ name: 'a', value: 'v', forMs: 1_000 });
    journal.flush();
  }
  t.is(lines.length, 1);
});
