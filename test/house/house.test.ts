import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import test from 'ava';

const root = resolve(import.meta.dirname, '../..');

const generated = new Set(['node_modules', '.git', 'dist', 'package', '.cache', '__tests__']);

/** All files of the project, relative to its root. */
function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!generated.has(entry.name)) yield* filesIn(path);
    } else if (entry.isFile()) yield relative(root, path);
  }
}

/** What serves those who come from the former name, and the changelog. */
const servesUpgrading: ReadonlySet<string> = new Set([
  'CHANGELOG.md',
  // Names a project of others.
  'docs/comparison.md',
  'docs/upgrading.md',
  'engine/cli/former-name.ts',
  'engine/config/custom/resolve-hook.ts',
  'test/engine/cli/import/import-folder.test.ts',
  // All expressions of these.
  'test/foreign-text/expressions.ts',
]);

test('the former name of the product stands only in what serves upgrading', (t) => {
  const former = new RegExp(['switch', 'yard'].join('[ _-]?'), 'i');
  const traces = [...filesIn(root)].filter(
    (file) =>
      !servesUpgrading.has(file) && (former.test(file) || former.test(readFileSync(join(root, file), 'latin1'))),
  );
  t.deepEqual(traces, []);
});

// A long file is an alarm for a reader, not a target for a writer: a split for its length alone points back.
test('files of more than 400 lines are named', (t) => {
  const sources = ['admin', 'engine', 'protocols', 'transformers', 'ui/src']
    .flatMap((folder) => [...filesIn(join(root, folder))])
    .filter((file) => /\.tsx?$/.test(file));
  t.true(sources.length > 500);
  for (const file of sources.sort()) {
    const lines = readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    if (lines > 400) t.log(`${file} has ${lines} lines: is there a second thing in it?`);
  }
});

test('folders of sources or tests with more than 20 entries are named', (t) => {
  const entries = new Map<string, Set<string>>();
  for (const folder of ['admin', 'engine', 'protocols', 'transformers', 'ui', 'test'])
    for (const file of filesIn(join(root, folder))) {
      const names = file.split('/');
      for (let depth = 1; depth < names.length; depth += 1) {
        const parent = names.slice(0, depth).join('/');
        entries.set(parent, (entries.get(parent) ?? new Set()).add(names[depth] ?? ''));
      }
    }
  const isLarge = ([folder, names]: readonly [string, ReadonlySet<string>]): boolean =>
    names.size > 20 && !folder.startsWith('test/fixtures');
  t.true(entries.size > 100);
  for (const [folder, { size }] of [...entries].filter(isLarge))
    t.log(`${folder} has ${size} entries: is there a folder in it?`);
});
