// @ts-check
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/*
 * Groups of test files that share a process. Starting the runner's process and loading the gateway takes longer than most files'
 * tests: so files that leave their process as it is have one per folder, and those in a browser have two.
 */

/**
 * The folder of the groups' files, which are written for each whole run. The runner leaves a folder of this name out of titles, so
 * they stay what they are without groups.
 */
const folder = 'test/__tests__';

/** Folders whose files may share a process; those that leave it as it is do. */
const shared =
  /^test\/(?:admin|conversions\/losses|docs|foreign-text(?!\/fuzz)|protocols|regressions|runner|transformers|ui|engine\/(?!bounds|requests)[\w-]+)\//;

/** Folders within such a folder whose tests are so many that they are a group of their own: a process runs all of its tests at once. */
const large = new Set(['config/custom']);

/** Short files beside those that take long. */
const short = /^test\/engine\/requests\/(?:base-urls|call-extras|call-stages|client-credentials|router-module|rules)\./;

/**
 * What still needs a process of its own: an order, hooks for each test, loading that waits, and what changes or looks at the whole
 * process.
 */
const needsOwnProcess =
  /test\.(?:serial|beforeEach|afterEach)|^(?:const .* = )?await |\bprocess\.(?!execPath|pid|platform|versions|arch|cwd|getuid|env\.\w+\b(?! (?:\?\?|\|\|)?= ))|delete process\.|node:child_process|support\/processes\/(?:browser|redis)|setFlagsFromString/m;

/** Tests in a browser, which run one after the other. Two groups keep two cores busy. */
const inBrowser = new Map(
  Object.entries({
    [join(folder, '__tests__/__tests__/ui.test.ts')]: [
      'pages/clients',
      'pages/configure',
      'layout',
      'pages/models',
      'pages/rules',
    ],
    [join(folder, '__tests__/__tests__/__tests__/ui.test.ts')]: [
      'pages/conversation',
      'pages/filters',
      'jobs',
      'load',
      'navigation',
      'pictures',
      'pages/sessions',
      'pages/trouble',
      'pages/usage',
      'use',
    ],
  }).flatMap(([group, names]) => names.map((name) => [`test/ui/${name}.test.ts`, group])),
);

/** @param {string} root @param {string} test */
const canShare = (root, test) =>
  inBrowser.has(test) ||
  ((shared.test(test) || short.test(test)) && !needsOwnProcess.test(readFileSync(join(root, test), 'utf8')));

/**
 * Test files of a whole run: groups, and files that need a process of their own.
 * @param {string} root
 * @param {readonly string[]} tests paths relative to the root
 * @param {import('./tiers.js').Tier} [tier] theirs: a process has files of one tier
 * @returns {ReadonlyMap<string, readonly string[]>} by the file to run, the test files in it
 */
export const groupTests = (root, tests, tier = 'in-process') => {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const test of tests) {
    const file = canShare(root, test) ? groupOf(test, tier) : test;
    groups.set(file, [...(groups.get(file) ?? []), test]);
  }
  // A group of one file is that file.
  return new Map([...groups].map(([file, members]) => [members.length === 1 ? (members[0] ?? file) : file, members]));
};

/**
 * `test/engine/config/edit/lists.test.ts` belongs to `test/__tests__/engine/config.test.ts`.
 * @param {string} test
 * @param {import('./tiers.js').Tier} [tier] the groups of processes are in a folder of their own
 */
const groupOf = (test, tier) => {
  const [, area, part = '', inner = ''] = dirname(test).split('/');
  if (!area) return test;
  const own = large.has(join(part, inner)) ? inner : '';
  return (
    inBrowser.get(test) ?? `${join(folder, tier === 'processes' ? '__tests__/__tests__' : '', area, part, own)}.test.ts`
  );
};

/**
 * Writes the groups' files. They stay where they are between runs: another run may use them.
 * @param {string} root
 * @param {ReadonlyMap<string, readonly string[]>} groups
 */
export const writeGroups = (root, groups) => {
  const place = join(root, folder);
  mkdirSync(place, { recursive: true });
  for (const entry of readdirSync(place, { recursive: true, encoding: 'utf8' })) {
    if (entry.endsWith('.ts') && !groups.has(join(folder, entry))) rmSync(join(place, entry));
  }
  for (const [file, members] of groups) {
    if (!isGroup(file)) continue;
    const path = join(root, file);
    const text = members.map((member) => `import '${relative(dirname(file), member)}';\n`).join('');
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
  }
};

/** @param {string} file */
export const isGroup = (file) => file.startsWith(`${folder}/`);

/**
 * What comes before the titles of a test file in its group, so that they read as if the file ran by itself.
 * @param {string} test
 */
export const titleIn = (test) => {
  const [group, file] = [groupOf(test).replaceAll('__tests__/', ''), test].map((path) =>
    path.replace(/\.test\.ts$/, ''),
  );
  return relative(group ?? '', file ?? '').replaceAll('/', ' › ');
};
