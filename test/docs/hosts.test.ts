import { readFile, writeFile } from 'node:fs/promises';
import test from 'ava';
import type { DialectRow } from '../../transformers/formats/dialect-row.ts';
import { hostRows } from '../../transformers/formats/hosts.ts';
import { modelFamilies } from '../../transformers/formats/model-families.ts';

const file = new URL('../../docs/hosts.md', import.meta.url);
const end = '<!-- end -->';
const marks = { hosts: hostRows, families: modelFamilies } as const;

const tableOf = (rows: readonly DialectRow[]): string =>
  [
    '|Option| |Recognised by|Refuses|Gets|',
    '|---|---|---|---|---|',
    ...rows.map(({ name, title, recognised, refuses = [], gets }) =>
      ['', `\`${name}\``, title, recognised, refuses.map((field) => `\`${field}\``).join(', '), gets, ''].join('|'),
    ),
  ].join('\n');

const withTable = (text: string, name: string, rows: readonly DialectRow[]): string => {
  const begin = `<!-- ${name}: written by \`UPDATE_DOCS=1 npx ava test/docs/hosts.test.ts\` -->\n`;
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end, from);
  if (from < begin.length || to < 0) throw new Error(`docs/hosts.md has no place for ${name}`);
  return `${text.slice(0, from)}\n${tableOf(rows)}\n\n${text.slice(to)}`;
};

test('docs/hosts.md lists the hosts and families as they are', async (t) => {
  const text = await readFile(file, 'utf8');
  const expected = Object.entries(marks).reduce((page, [name, rows]) => withTable(page, name, rows), text);
  if (process.env.UPDATE_DOCS) await writeFile(file, expected);
  else t.is(text, expected);
  t.pass();
});
