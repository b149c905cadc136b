import test from 'ava';
import fc from 'fast-check';
import { editConfigText } from '../../../../engine/config/edit/edit.ts';
import { parseConfig } from '../../../../engine/config/parse.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';

const file = `// Mine.
{
  "PORT": 1, // the port

  /* Those that I pay for. */
  "Providers": [
    // the fast one
    { "name": "a", "baseUrl": "http://a.example", "apiKey": "$A", "models": ["m1", "m2"] }, // good
    // the cheap one
    { "name": "b", "baseUrl": "http://b.example", "apiKey": "$B", "models": ["m3"] }, // slow
  ],
  "Router": {
    "default": "a,m1" // for now
  },
  // the end
}
`;

const a = { name: 'a', baseUrl: 'http://a.example', apiKey: '$A', models: ['m1', 'm2'] };
const b = { name: 'b', baseUrl: 'http://b.example', apiKey: '$B', models: ['m3'] };
const whole = { PORT: 1, Providers: [a, b], Router: { default: 'a,m1' } };

const edits: readonly (readonly [title: string, wanted: JsonObject, from: string, to: string])[] = [
  ['nothing', whole, '', ''],
  ['a value', { ...whole, PORT: 2 }, '"PORT": 1,', '"PORT": 2,'],
  ['a value within a value', { ...whole, Providers: [a, { ...b, apiKey: '$C' }] }, '"apiKey": "$B"', '"apiKey": "$C"'],
  [
    'a new member goes behind the comment of the one before',
    { ...whole, Router: { default: 'a,m1', longContextThreshold: 9 } },
    '"default": "a,m1" // for now\n',
    '"default": "a,m1", // for now\n    "longContextThreshold": 9\n',
  ],
  ['a new member of the whole', { ...whole, LOG: false }, '  },\n  // the end', '  },\n  "LOG": false,\n  // the end'],
  [
    'a longer list on one line',
    { ...whole, Providers: [{ ...a, models: ['m0', 'm1', 'm2'] }, b] },
    '["m1",',
    '["m0", "m1",',
  ],
  ['a shorter list on one line', { ...whole, Providers: [{ ...a, models: ['m2'] }, b] }, '["m1", "m2"]', '["m2"]'],
  [
    'a member that goes takes its line along',
    { ...whole, Providers: [b] },
    '    { "name": "a", "baseUrl": "http://a.example", "apiKey": "$A", "models": ["m1", "m2"] }, // good\n',
    '',
  ],
  [
    'one member in place of another',
    { ...whole, Providers: [a, { name: 'c' }] },
    '    { "name": "b", "baseUrl": "http://b.example", "apiKey": "$B", "models": ["m3"] }, // slow\n',
    '    {\n      "name": "c"\n    },\n',
  ],
  [
    'a member between two',
    { ...whole, Providers: [a, { name: 'c' }, b] },
    '    // the cheap one',
    '    {\n      "name": "c"\n    },\n    // the cheap one',
  ],
  ['the last member of an object', { ...whole, Router: {} }, '\n    "default": "a,m1" // for now', ''],
];

for (const [title, wanted, from, to] of edits) {
  test(`changed: ${title}`, (t) => {
    t.true(file.includes(from));
    t.is(editConfigText(file, wanted), file.replace(from, to));
  });
  test(`changed, with CRLF line ends: ${title}`, (t) => {
    const edited = editConfigText(file.replaceAll('\n', '\r\n'), wanted);
    t.is(edited, file.replace(from, to).replaceAll('\n', '\r\n'));
  });
}

test('reordered members keep the comments of those that did not move', (t) => {
  const edited = editConfigText(file, { ...whole, Providers: [b, a] });
  t.deepEqual(parseConfig(edited), { source: { ...whole, Providers: [b, a] } });
  for (const comment of ['// Mine.', '// the port', '/* Those that I pay for. */', '// the cheap one', '// the end']) {
    t.true(edited.includes(comment), comment);
  }
});

const texts: readonly (readonly [title: string, text: string, wanted: JsonObject, edited: string])[] = [
  ['all on one line', '{"a":1,"b":2}', { a: 1, b: 3, c: 4 }, '{"a":1,"b":3, "c": 4}'],
  ['the first of one line goes', '{"a":1, "b":2}', { b: 2 }, '{"b":2}'],
  ['nothing in it', '{}', { a: 1 }, '{\n  "a": 1\n}'],
  ['only a comment in it', '{ // none yet\n}\n', { a: 1 }, '{ // none yet\n  "a": 1\n}\n'],
  ['all goes but comments', '{ // one\n "a": 1 // two\n}', {}, '{ // one\n}'],
  [
    'tabs',
    '{\n\t"a": {\n\t\t"b": 1\n\t}\n}',
    { a: { b: 1, c: [2] } },
    '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": [\n\t\t\t2\n\t\t]\n\t}\n}',
  ],
  ['a comma on the next line', '{ "a": 1 // x\n, "b": 2 }', { a: 2, b: 2 }, '{ "a": 2, // x\n "b": 2 }'],
  ['a name twice', '{ "a": 1, "a": 2 }', { a: 3 }, '{ "a": 3 }'],
  ['a name that is special', '{ "__proto__": 1, "b": 2 }', { b: 3 }, '{ "b": 3 }'],
  ['a slash inside a string', '["http://a"]', {}, '{}\n'],
  [
    'URLs on one line',
    '{"l":["http://a","http://b"]}',
    { l: ['http://a', 'http://c'] },
    '{"l":["http://a", "http://c"]}',
  ],
  ['a mark of byte order', '\uFEFF{ "a": 1 }', { a: 2 }, '{ "a": 2 }'],
  ['what is no JSON', '{ "a": ', { a: 2 }, '{\n  "a": 2\n}\n'],
  ['an empty text', '', {}, '{}\n'],
];

for (const [title, text, wanted, edited] of texts) {
  test(`a text with ${title}`, (t) => t.is(editConfigText(text, wanted), edited));
}

const value = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.integer(), fc.string(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 5 }),
  object: fc.dictionary(fc.constantFrom('name', 'a', 'b', 'c/', '__proto__', 'd"'), tie('value'), { maxKeys: 5 }),
})).object;

/** Puts a comment wherever one may stand: before and behind every bracket, comma and line end. */
const comment = (text: string, kinds: readonly number[]): string => {
  let count = 0;
  let inString = false;
  return [...text]
    .map((character, index) => {
      if (character === '"' && !isEscaped(text, index)) inString = !inString;
      if (inString || !/[{}[\],]/.test(character)) return character;
      count += 1;
      const kind = kinds[count % kinds.length];
      if (kind === 0) return `${character} // c${count},\n`;
      if (kind === 1) return ` /* c${count} */ ${character}`;
      return kind === 2 ? `\n// c${count}\n${character}` : character;
    })
    .join('');
};

const isEscaped = (text: string, index: number): boolean =>
  (/\\*$/.exec(text.slice(0, index))?.[0] ?? '').length % 2 === 1;

test('any edit gives a text with the new value, derived from the old text', (t) => {
  let commented = 0;
  const kinds = fc.array(fc.nat(3), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(value, value, kinds, fc.boolean(), (old, wanted, places, narrow) => {
      const from = JSON.parse(JSON.stringify(old));
      const to = JSON.parse(JSON.stringify(wanted));
      const text = comment(JSON.stringify(from, null, narrow ? undefined : 2), places);
      const edited = editConfigText(text, to);
      t.deepEqual(parseConfig(edited), { source: to });
      const before = text.slice(0, text.indexOf('{'));
      t.true(edited.startsWith(before));
      if (before !== '') commented += 1;
    }),
    { numRuns: 1_000 },
  );
  t.true(commented > 200);
});
