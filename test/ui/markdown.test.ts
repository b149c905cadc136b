import test from 'ava';
import fc from 'fast-check';
import { type Block, type Inline, readMarkdown } from '../../ui/src/parts/markdown/read-markdown.ts';
import { splitText } from '../../ui/src/parts/markdown/split-text.ts';
import { cpuTimeMs } from '../support/processes/cpu-time.ts';

/** A short notation of what was read: `kind(…)`. */
const told = (block: Block): string => {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return `${block.kind === 'heading' ? 'h' : 'p'}(${runs(block.content)})`;
    case 'list':
      return `${block.start === undefined ? 'ul' : `ol ${block.start}`}(${block.items.map((item) => item.map(told).join('')).join('; ')})`;
    case 'quote':
      return `quote(${block.blocks.map(told).join('')})`;
    case 'code':
      return `code ${block.language}(${block.text})`;
    case 'table':
      return `table(${[block.head, ...block.rows].map((row) => row.map(runs).join(' | ')).join('; ')})`;
    case 'rule':
      return 'rule()';
  }
};

const runs = (list: readonly Inline[]): string => list.map(run).join('');

const run = (inline: Inline): string => {
  switch (inline.kind) {
    case 'text':
      return inline.text;
    case 'break':
      return '/';
    case 'code':
      return `code(${inline.text})`;
    case 'link':
      return `link ${inline.href}(${runs(inline.content)})`;
    default:
      return `${inline.kind}(${runs(inline.content)})`;
  }
};

const cases: readonly (readonly [title: string, text: string, expected: string])[] = [
  ['headings and lines', '# Title\nOne\ntwo', 'h(Title)p(One/two)'],
  ['nested lists', '- a\n- b\n  more\n  1. c\n     - d\n\n3. e', 'ul(p(a); p(b/more)ol 1(p(c)ul(p(d))))ol 3(p(e))'],
  ['tasks', '- [x] done\n- [ ] open', 'ul(p(☑)p(done); p(☐)p(open))'],
  ['code', '```js\nlet x;\n\n<b>\n```\nend', 'code js(let x;\n\n<b>)p(end)'],
  ['code that is still open', '```py\nstill open', 'code py(still open)'],
  ['a table', '| a | b |\n|---|--:|\n| 1 | **2** |', 'table(a | b; 1 | strong(2))'],
  ['a quote', '> one\n> > two', 'quote(p(one)quote(p(two)))'],
  ['a rule', 'a\n\n---', 'p(a)rule()'],
  ['runs', 'a `b*c*` **d _e_** *f* ~~g~~ 2 * 3', 'p(a code(b*c*) strong(d emphasis(e)) emphasis(f) deleted(g) 2 * 3)'],
  ['entities and escapes', 'a &lt;b&gt; &amp;#39; &#39; \\*c\\* `&lt;`', "p(a <b> &#39; ' *c* code(&lt;))"],
  ['links', '[a *b*](https://c.d/e) <f@g.hi>', 'p(link https://c.d/e(a emphasis(b)) link mailto:f@g.hi(f@g.hi))'],
  ['a bare address', 'see https://a.bc', 'p(see link https://a.bc(https://a.bc))'],
  [
    'scripts, and addresses of other kinds',
    '<b>x</b> <script>alert(1)</script> [a](javascript:alert(1)) [b](JaVa&#115;cript:x) [c](data:text/html,x) [d](/ui)',
    'p(<b>x</b> <script>alert(1)</script> [a](javascript:alert(1)) [b](JaVa&#115;cript:x) [c](data:text/html,x) [d](/ui))',
  ],
  ['pictures', '![a](https://b.c/d.png)', 'p(![a](https://b.c/d.png))'],
  ['HTML blocks', '<div onclick="x">\n\ny', 'p(<div onclick="x">)p(y)'],
];

for (const [title, text, expected] of cases) {
  test(`Markdown: ${title}`, (t) => {
    t.is(readMarkdown(text).map(told).join('').replaceAll('\n\n)', ')'), expected);
  });
}

const words = (text: string): number => (text.match(/word/g) ?? []).length;

test('no word is lost, wherever the text is split', (t) => {
  const part = fc.constantFrom(
    'a',
    '`',
    '```',
    '*',
    '_',
    '-',
    '1.',
    '#',
    '\n',
    '\n\n',
    ' ',
    '  ',
    '~~~',
    '>',
    '<b',
    '[',
  );
  const long = fc.tuple(part, fc.constantFrom(1, 1_000)).map(([text, n]) => text.repeat(n));
  fc.assert(
    fc.property(fc.array(fc.oneof(part, long, fc.constant('word')), { maxLength: 40 }), (parts) => {
      const text = parts.join('');
      const pieces = splitText(text);
      t.true(pieces.every(({ length }) => length <= 8_200));
      const read = pieces
        .flatMap((piece) => readMarkdown(piece))
        .map(told)
        .join('');
      t.true(words(read) >= words(text), text);
    }),
    { numRuns: 300 },
  );
  t.is(splitText('').length, 0);
});

test('a text that grows changes its last pieces alone, and code goes on where it is cut', (t) => {
  const text = `${'A line.\n\n'.repeat(2_000)}\`\`\`js\n${'let x;\n'.repeat(3_000)}\`\`\`\nEnd.`;
  const pieces = splitText(text);
  t.true(pieces.length > 5);
  const grown = splitText(`${text} More.`);
  t.deepEqual(grown.slice(0, pieces.length - 1), pieces.slice(0, -1));
  const blocks = pieces.flatMap((piece) => readMarkdown(piece));
  const code = blocks.flatMap((block) => (block.kind === 'code' ? [block] : []));
  t.true(
    code.length > 1 && code.every(({ language, text: lines }) => language === 'js' && /^(?:let x;\n?)+$/.test(lines)),
  );
  t.is(blocks.slice(-1).map(told).join(''), 'p(End.)');
});

test('hostile Markdown takes time in proportion to its length', (t) => {
  const attacks = [
    '__a_',
    '_a',
    '**a',
    '*_',
    '> ',
    '>',
    '[',
    '[a](',
    '![',
    '`a``',
    'a.b-c_',
    'a|b\n-|-\n',
    '- ',
    '<a ',
    '&#1',
  ];
  for (const attack of attacks) {
    const text = attack.repeat(100_000 / attack.length);
    const before = cpuTimeMs();
    // All pieces are alike, and none is longer than 8,200 characters. As one piece, the text would take half a minute or more.
    for (const piece of splitText(text).slice(0, 3)) readMarkdown(piece);
    const tookMs = cpuTimeMs() - before;
    t.true(tookMs < 5_000, `${attack}: ${tookMs} ms`);
  }
});
