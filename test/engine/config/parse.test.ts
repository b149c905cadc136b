import test from 'ava';
import { parseConfig } from '../../../engine/config/parse.ts';

const good = [
  ['plain JSON', '{"PORT": 1, "a": [null, true, "x"]}', { PORT: 1, a: [null, true, 'x'] }],
  ['comments', '// first\n{ /* in */ "PORT": 1 // last\n}', { PORT: 1 }],
  ['trailing commas', '{"a": [1, 2,], "b": 2,}', { a: [1, 2], b: 2 }],
  ['a byte order mark', '\uFEFF{"a": 1}', { a: 1 }],
  ['what looks like a comment inside a string', '{"u": "http://h/*x*/"}', { u: 'http://h/*x*/' }],
  ['a name given twice: the last one holds', '{"a": 1, "a": 2}', { a: 2 }],
] as const;

for (const [title, text, source] of good) test(title, (t) => t.deepEqual(parseConfig(text), { source }));

const bad = [
  ['nothing', ' \n', [/is empty/]],
  ['no object', '[1]', [/must be a JSON object/]],
  ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', [/comma expected at line 3, column 3/]],
  ['line ends of another system', '{\r\n"a": 1\r\n"b": 2}', [/line 3, column 1/]],
  ['a missing end', '{"a": 1', [/close brace expected at line 1, column 8/]],
  ['two slips', '{\n"a": tru,\n"b": 1 "c": 2}', [/^is not valid JSON: .* at line 2, column 6$/]],
  [
    'a comma that is missing before an object',
    '{"a": {"b": 1}\n"c": {"d": [1, 2], "e": {}},\n"f": [{}]}',
    [/^[^\n]*line 2, column 1$/],
  ],
  ['a quote that is missing', '{"a": "x,\n"b": 1, "c": {"d": 2}}', [/^[^\n]*line 1, column 7$/]],
] as const;

for (const [title, text, patterns] of bad) {
  test(`a fault: ${title}`, (t) => {
    const parsed = parseConfig(text);
    const messages = 'faults' in parsed ? parsed.faults.map(({ message }) => message).join('\n') : '';
    for (const pattern of patterns) t.regex(messages, pattern);
  });
}

test('S13 a member named __proto__ changes no prototype', (t) => {
  const parsed = parseConfig('{"__proto__": {"APIKEY": "x"}}');
  const source = 'source' in parsed ? parsed.source : undefined;
  t.is(source?.APIKEY, undefined);
  t.is(JSON.stringify(source), '{"__proto__":{"APIKEY":"x"}}');
});

test('S13 a text that is nested too deep is a fault with its place, however deep', (t) => {
  for (const levels of [257, 3_000, 200_000]) {
    for (const [open, close] of [
      ['{"a":', '}'],
      ['[', ']'],
    ] as const) {
      const parsed = parseConfig(`{"x": ${open.repeat(levels)}1${close.repeat(levels)}}`);
      t.regex(
        'faults' in parsed ? (parsed.faults[0]?.message ?? '') : '',
        /^is nested deeper than 256 levels at line 1, column \d+$/,
      );
    }
  }
  t.true('source' in parseConfig(`{"x": ${'['.repeat(255)}${']'.repeat(255)}}`));
  t.true(
    'source' in parseConfig(`{"x": "${'['.repeat(5_000)}" /* ${'{'.repeat(5_000)} */}`),
    'texts and comments nest nothing',
  );
});

test('a text in UTF-16 is one fault', (t) => {
  const utf16 = Buffer.from(`\ufeff${JSON.stringify({ Providers: [], PORT: 1 }, null, 2)}`, 'utf16le');
  for (const bytes of [utf16, utf16.subarray(2), Buffer.from(utf16).swap16()]) {
    t.deepEqual(parseConfig(bytes.toString()), {
      faults: [{ path: '', message: 'is not a text in UTF-8: save it in that encoding' }],
    });
  }
});
