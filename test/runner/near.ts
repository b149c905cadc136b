import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stop } from 'esbuild';
import { compileTo, testFiles } from './compile.js';
import { distancesOf, rankIn } from './nearest.ts';

/*
 * Runs the tests near a change: of either tier, those that mirror a changed file or import it directly, and the changed tests. The
 * change is what isn't committed, else the last commit.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const git = (...args: readonly string[]): readonly string[] =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');

/** At most so many tests of one changed file: of a module that all import, most say the same. */
const mostPerFile = 6;

/** Beside a mirror, a test may be so far: it imports the file directly. */
const nearRank = 3;

const uncommitted = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
const changed = (uncommitted.length > 0 ? uncommitted : git('diff', '--name-only', 'HEAD~1', 'HEAD')).filter((file) =>
  existsSync(join(root, file)),
);

const tests = testFiles();
const scratch = mkdtempSync(join(root, 'node_modules/.cache/junctor-near-'));
const inputs = await compileTo(scratch, tests).finally(stop);
rmSync(scratch, { recursive: true, force: true });
const distances = distancesOf(inputs, tests);
const near = new Set(changed.filter((file) => tests.includes(file)));
for (const file of changed) {
  const ranked = [...(distances.get(file)?.keys() ?? [])]
    .map((test) => ({ test, rank: rankIn(distances, file, test) }))
    .filter(({ rank }) => rank <= nearRank)
    .sort((one, other) => one.rank - other.rank);
  for (const { test } of ranked.slice(0, mostPerFile)) near.add(test);
}
// What holds for all files: imports, names, sizes.
for (const test of tests) if (test.startsWith('test/house/')) near.add(test);
console.log(`${changed.length} changed files, ${near.size} files of tests:\n${[...near].join('\n')}\n`);
spawn('npx', ['ava', ...process.argv.slice(2), ...near], { cwd: root, stdio: 'inherit' }).once('exit', (code) => {
  process.exitCode = code ?? 1;
});
