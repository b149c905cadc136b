import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';

const root = resolve(import.meta.dirname, '../..');

test('each file and folder that the gateway keeps in the configuration’s folder is on the page', async (t) => {
  const page = await readFile(join(root, 'docs/privacy.md'), 'utf8');
  const kept = new Set<string>();
  for (const folder of ['admin', 'engine']) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
      for (const [, name = ''] of text.matchAll(/join\(home, '([\w.-]+)'/g)) kept.add(name);
    }
  }
  t.true(kept.size > 10);
  const missing = [...kept].filter((name) => !new RegExp(`\`${name.replaceAll('.', '\\.')}/?\``).test(page));
  t.deepEqual(missing, []);
});

test('each place of the browser’s storage is on the page', async (t) => {
  const page = await readFile(join(root, 'docs/privacy.md'), 'utf8');
  const places = new Set<string>();
  for (const entry of await readdir(join(root, 'ui/src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
    for (const [, where = ''] of text.matchAll(/\bkept\('(session|local)'/g)) places.add(where);
    // Storage is reached in one place.
    if (/\b(?:local|session)Storage\b/.test(text)) t.is(entry.name, 'kept.ts');
  }
  t.deepEqual([...places].toSorted(), ['local', 'session']);
  for (const place of places) t.true(page.includes(`the browser's ${place} storage`), place);
});
