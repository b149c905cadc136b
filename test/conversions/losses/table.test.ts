import { readFile, writeFile } from 'node:fs/promises';
import test from 'ava';
import { cases, smallest } from './cases.ts';
import { valueAt } from './leaves.ts';
import { clientOf, convert, targets } from './pairs.ts';
import { lossTables } from './table.ts';

const file = new URL('../../../docs/losses.md', import.meta.url);
const begin = '<!-- tables: written by `UPDATE_DOCS=1 npx ava test/conversions/losses/table.test.ts` -->\n';

test('docs/losses.md matches the conversions', async (t) => {
  const text = await readFile(file, 'utf8');
  const from = text.indexOf(begin);
  t.true(from > 0, 'the place of the tables is marked');
  const expected = `${text.slice(0, from)}${begin}\n${lossTables()}\n`;
  if (process.env.UPDATE_DOCS) await writeFile(file, expected);
  else t.is(text, expected);
});

for (const [wire, rows] of Object.entries(cases)) {
  test(`${wire}: each case is a body that the route takes and has what it speaks of`, (t) => {
    for (const { what, at, body } of rows) {
      const asked = { ...smallest[wire], ...body };
      t.notThrows(() => clientOf(wire).decodeRequest(asked), what);
      t.not(valueAt(asked, at), undefined, `${what}: ${at}`);
    }
  });

  test(`${wire}: the smallest body loses nothing anywhere`, (t) => {
    for (const target of targets) {
      const found = convert(clientOf(wire), smallest[wire] ?? {}, target);
      t.deepEqual('refused' in found ? found.refused : found.losses, [], target.name);
    }
  });
}
