import { readFile, writeFile } from 'node:fs/promises';
import test from 'ava';
import { wireFormats } from '../../engine/model/request.ts';

const page = new URL('../../docs/model.md', import.meta.url);
const source = (name: string) => readFile(new URL(`../../engine/model/${name}.ts`, import.meta.url), 'utf8');

/** The parts of the page, and the files whose types they list. */
const parts = { request: ['request', 'reasoning/signature'], events: ['event'], faults: ['fault'] } as const;

const comment = String.raw`(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?`;
const declaration = new RegExp(
  String.raw`^${comment}(?:export )?(?:interface (\w+)(?: extends (\w+))? \{\n([\s\S]*?)\n\}|type (\w+) =([\s\S]*?);)(?=\n\S|\n\n|\n$)`,
  'gm',
);
const member = new RegExp(String.raw`^  ${comment}readonly (\w+)(\??): ([\s\S]*?);$`, 'gm');
const alternative = new RegExp(String.raw`${comment}\|?\s*(\{[^}]*\}|[^|{}/]+)`, 'g');

const formats = wireFormats.map((format) => `'${format}'`).join(' | ');

const words = (text = ''): string =>
  text
    .replace(/^\s*\* ?/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const code = (text: string): string =>
  `\`${text
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replace(/^ ?\| /, '')
    .replace(/ \| undefined$/, '')
    .trim()
    .replaceAll('|', '\\|')}\``;

/** The types of a file, as the page has them. */
const listOf = (text: string): string =>
  [...text.matchAll(declaration)]
    .map(([, about, name, base, body = '', union, choices = '']) => {
      const title = `### ${name ?? union}`;
      const intro = [words(about), ...(base === undefined ? [] : [`Also the members of \`${base}\`.`])]
        .join(' ')
        .trim();
      const rows =
        name === undefined
          ? [...choices.replace('(typeof wireFormats)[number]', formats).matchAll(alternative)].map(
              ([, why, choice = '']) => `|${code(choice)}|${words(why)}|`,
            )
          : [...body.matchAll(member)].map(
              ([, why, field, isOptional, type = '']) =>
                `|\`${field}\`${isOptional ? ', optional' : ''}|${code(type)}|${words(why)}|`,
            );
      const head = name === undefined ? ['|One of|Meaning|', '|---|---|'] : ['|Member|Type|Meaning|', '|---|---|---|'];
      const filled = rows.filter((row) => !row.startsWith('|``'));
      return [title, ...(intro === '' ? [] : ['', intro]), '', ...head, ...filled].join('\n');
    })
    .join('\n\n');

const withPart = (text: string, name: string, list: string): string => {
  const begin = `<!-- ${name}: written by \`UPDATE_DOCS=1 npx ava test/docs/model.test.ts\` -->\n`;
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf('<!-- end -->', from);
  if (from < begin.length || to < 0) throw new Error(`docs/model.md has no place for ${name}`);
  return `${text.slice(0, from)}\n${list}\n\n${text.slice(to)}`;
};

test('docs/model.md lists the types of the model as they are', async (t) => {
  const text = await readFile(page, 'utf8');
  let expected = text;
  for (const [name, files] of Object.entries(parts)) {
    const texts = await Promise.all(files.map(source));
    expected = withPart(expected, name, texts.map(listOf).join('\n\n'));
  }
  if (process.env.UPDATE_DOCS) await writeFile(page, expected);
  else t.is(text, expected);
  for (const name of ['ModelRequest', 'Turn', 'ToolResultPart', 'ModelEvent', 'MessageStop', 'FaultKind', 'Usage'])
    t.true(expected.includes(`### ${name}\n`), name);
  for (const row of ['|`turns`|`Turn[]`|', "|`'upstream-overloaded'`|", '|`maxTokens`, optional|`number`|'])
    t.true(expected.includes(row), row);
});
