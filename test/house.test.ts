import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import test from 'ava';

const root = resolve(import.meta.dirname, '..');

const generated = new Set(['node_modules', '.git', 'dist', '.cache']);

/** All files of the project, relative to its root. */
function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!generated.has(entry.name)) yield* filesIn(path);
    } else if (entry.isFile()) yield relative(root, path);
  }
}

test('the former name of the product stands in the changelog alone', (t) => {
  const former = new RegExp(['switch', 'yard'].join('[ _-]?'), 'i');
  const traces = [...filesIn(root)].filter(
    (file) => file !== 'CHANGELOG.md' && (former.test(file) || former.test(readFileSync(join(root, file), 'latin1'))),
  );
  t.deepEqual(traces, []);
});
