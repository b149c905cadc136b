import { readFile, writeFile } from 'node:fs/promises';
import test from 'ava';
import { taughtFields } from '../../engine/model/upstream-error/taught-fields.ts';

const file = new URL('../../docs/taught.md', import.meta.url);
const begin = '<!-- fields: written by `UPDATE_DOCS=1 npx ava test/docs/taught.test.ts` -->\n';
const end = '<!-- end -->';

const table = [
  '|Group|Members|Then|',
  '|---|---|---|',
  ...taughtFields.map(({ group, paths, order }) => {
    const then =
      group === 'output limit'
        ? 'fitted, or sent under its other name'
        : order
          ? 'the nearest allowed value, else left out'
          : group === 'sampling'
            ? 'kept in the allowed range, else left out; of two that exclude each other, one is left out'
            : 'left out';
    return `|${group}|${paths.map((path) => `\`${path}\``).join(', ')}|${then}|`;
  }),
].join('\n');

test('docs/taught.md lists what can be taught', async (t) => {
  const text = await readFile(file, 'utf8');
  const from = text.indexOf(begin) + begin.length;
  const expected = `${text.slice(0, from)}\n${table}\n\n${text.slice(text.indexOf(end, from))}`;
  if (process.env.UPDATE_DOCS) await writeFile(file, expected);
  else t.is(text, expected);
  t.true(from > begin.length);
});
