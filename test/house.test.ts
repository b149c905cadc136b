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

/** Schemas, tables of facts, and the one model of requests: there is nothing in them to take apart. */
const tables = new Set([
  'admin/schema.ts',
  'engine/config/schema.ts',
  'engine/model/request.ts',
  'transformers/formats/facts/openai.ts',
]);

test('a source file that is no table has at most 400 lines', (t) => {
  const sources = ['admin', 'engine', 'protocols', 'transformers', 'ui/src']
    .flatMap((folder) => [...filesIn(join(root, folder))])
    .filter((file) => /\.tsx?$/.test(file));
  t.true(sources.length > 500);
  const isLong = (file: string): boolean => readFileSync(join(root, file), 'utf8').split('\n').length > 401;
  t.deepEqual(sources.filter(isLong).sort(), [...tables].sort());
});
