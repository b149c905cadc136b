import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { build, stop } from 'esbuild';
import { removeTempFilesOf } from '../../../../engine/config/files/file.ts';
import { temporaryHome } from './store-rig.ts';

/** `JUNCTOR_KILLS=1000` makes the long run of it. */
const kills = Number(process.env.JUNCTOR_KILLS ?? 50);
const rows = 2;

/** File operations of a whole write and a little more. Kills are spread over them, so that each has its share. */
const operations = 40;

/** The writer as one file of JavaScript, which starts ten times faster than through a loader. */
const compileWriter = async (t: ExecutionContext): Promise<string> => {
  const outfile = join(temporaryHome(t), 'endless-writer.mjs');
  const source = join(import.meta.dirname, 'endless-writer.ts');
  // The compiler is a process of its own, which would stay for as long as this one.
  await build({ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'esm' }).finally(stop);
  return outfile;
};

/** Has a writer killed amid one of its file operations. */
const killOnce = async (writer: string, home: string, from: number, operation: number): Promise<void> => {
  const path = join(home, 'config.json');
  const child = spawn(process.execPath, [writer, path, String(from), String(operation)], { stdio: 'inherit' });
  const [, signal] = await once(child, 'exit');
  if (signal !== 'SIGKILL') throw new Error('The writer ended by itself.');
};

/** The count in a configuration's text; throws for a text that isn't whole. */
const countIn = async (path: string): Promise<number> => {
  const { count, again, padding } = JSON.parse(await readFile(path, 'utf8'));
  if (count !== again || padding.length !== 300_000) throw new Error(`${path} is torn`);
  return count;
};

/** Kills one writer after the other; gives how many of them had begun a file and not finished it. */
const row = async (t: ExecutionContext, writer: string, times: number): Promise<number> => {
  const home = temporaryHome(t, JSON.stringify({ count: 0, padding: 'x'.repeat(300_000), again: 0 }));
  let unfinished = 0;
  for (let kill = 1; kill <= times; kill += 1) {
    // Counts rise from kill to kill, so that an older text can be told from a newer one.
    await killOnce(writer, home, kill * 1_000_000, Math.ceil((kill * operations) / times));
    const present = await countIn(join(home, 'config.json'));
    const names = await readdir(home);
    const backups = names.filter((name) => /^config\.backup\..*\.json$/.test(name)).sort();
    const counts = await Promise.all(backups.map((name) => countIn(join(home, name))));
    t.deepEqual(
      [...counts].sort((one, other) => one - other),
      counts,
      'backups are in order',
    );
    t.true(counts.every((count) => count <= present));
    // One more for a moment: the oldest goes only when the new configuration is in place.
    t.true(counts.length <= 4, `${counts.length} backups`);
    const drafts = names.filter((name) => name.endsWith('.tmp')).length;
    if (drafts > 0) unfinished += 1;
  }
  await removeTempFilesOf(join(home, 'config.json'), home);
  t.deepEqual(
    (await readdir(home)).filter((name) => name.endsWith('.tmp')),
    [],
  );
  return unfinished;
};

test(`${kills} kills during writes leave the complete old or new configuration`, async (t) => {
  t.timeout(kills * 10_000);
  const writer = await compileWriter(t);
  const drafts = await Promise.all(Array.from({ length: rows }, () => row(t, writer, Math.ceil(kills / rows))));
  const all = drafts.reduce((sum, count) => sum + count, 0);
  t.log(`${all} of ${kills} processes were killed amid a file`);
  t.true(all > 0, 'some were killed while they wrote');
});
