import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { refuseWrite, writeAtomically } from '../../../engine/config/write-atomically.ts';
import { FaultError } from '../../../engine/model/fault.ts';

const withFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-write-'));
  await use(folder).finally(() => rm(folder, { recursive: true }));
};

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test('S7 file and folder are accessible to the owner only', (t) =>
  withFolder(async (folder) => {
    const file = join(folder, 'a', 'b', 'config.json');
    await writeAtomically(file, 'text');
    t.is(await readFile(file, 'utf8'), 'text');
    t.is(await modeOf(file), 0o600);
    t.is(await modeOf(join(folder, 'a', 'b')), 0o700);
    t.deepEqual(await readdir(join(folder, 'a', 'b')), ['config.json']);
  }));

test('S7 an older file is replaced, and loses its mode', (t) =>
  withFolder(async (folder) => {
    const file = join(folder, 'config.json');
    await writeFile(file, 'a much longer text', { mode: 0o644 });
    await writeAtomically(file, 'new');
    t.is(await readFile(file, 'utf8'), 'new');
    t.is(await modeOf(file), 0o600);
  }));

test('a symbolic link stays one', (t) =>
  withFolder(async (folder) => {
    await mkdir(join(folder, 'real'));
    await writeFile(join(folder, 'real', 'c.json'), 'old');
    await symlink(join(folder, 'real', 'c.json'), join(folder, 'config.json'));
    await writeAtomically(join(folder, 'config.json'), 'new');
    t.true((await lstat(join(folder, 'config.json'))).isSymbolicLink());
    t.is(await readFile(join(folder, 'real', 'c.json'), 'utf8'), 'new');
  }));

test('a failed write leaves the old file and no temporary file', (t) =>
  withFolder(async (folder) => {
    await mkdir(join(folder, 'config.json', 'in'), { recursive: true });
    await t.throwsAsync(writeAtomically(join(folder, 'config.json'), 'new'));
    t.deepEqual(await readdir(folder), ['config.json']);
  }));

test('concurrent writes leave one complete text', (t) =>
  withFolder(async (folder) => {
    const file = join(folder, 'config.json');
    const texts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(100_000));
    await Promise.allSettled(texts.map((text) => writeAtomically(file, text)));
    t.true(texts.includes(await readFile(file, 'utf8')));
    t.deepEqual(await readdir(folder), ['config.json']);
  }));

test('a failed write is worded with the file and the reason', (t) => {
  const worded = (code: string) =>
    t.throws(() => refuseWrite('The preset cheap', Object.assign(new Error('low-level words'), { code })), {
      instanceOf: FaultError,
    })?.message;
  t.is(worded('ENOSPC'), "The preset cheap can't be written (ENOSPC); nothing was changed.");
  t.regex(worded('EROFS') ?? '', /change it where it comes from/);
  t.throws(() => refuseWrite('x', new TypeError('a bug')), { instanceOf: TypeError });
});
