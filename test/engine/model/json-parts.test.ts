import test from 'ava';
import fc from 'fast-check';
import { bodyText } from '../../../engine/model/call-body.ts';
import { countNodes, nodesWithin } from '../../../engine/model/json/count-nodes.ts';
import { isJsonObject, type Json, parseJson, writeJson } from '../../../engine/model/json/json.ts';
import { partsOf } from '../../../engine/model/json/read-in-parts.ts';
import { writeInParts } from '../../../engine/model/json/write-in-parts.ts';

const depth = 40;

/** Long enough for several parts. */
const long = 'Größe "x" \\ 転轍機 🚦 \u0000 '.repeat(300);

const element = fc.oneof(
  fc.constantFrom<Json>(long, { role: 'user', content: long }, [[long]], [], {}, null, 'list.'),
  fc.jsonValue({ maxDepth: 3 }).map((value): Json => parseJson(JSON.stringify(value)) ?? null),
);
const member = fc.oneof(element, fc.array(element, { maxLength: 40, size: 'max' }));
const object = fc.dictionary(fc.constantFrom('model', 'messages', 'tools', '__proto__', 'a"[', 'ü', '1'), member);

const readParts = (text: string) => partsOf(Buffer.from(text), depth)?.read();

test('an object that is read in parts is what it is when it is read at once, and is written the same', (t) => {
  let parted = 0;
  fc.assert(
    fc.property(object, fc.constantFrom(undefined, 1), (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      const parts = partsOf(Buffer.from(text), depth);
      const whole = parseJson(text);
      const read = parts?.read();
      if (parts) {
        parted += 1;
        t.is(parts.nodes, countNodes(Buffer.from(text)));
        t.true(parts.nodes === nodesWithin(whole, depth));
        t.deepEqual(read, whole);
      }
      if (isJsonObject(whole)) t.is(bodyText(writeInParts(read ?? whole)), writeJson(whole));
    }),
    { numRuns: 300 },
  );
  t.true(parted > 30, `${parted}`);
});

const many = (one: string, count = 2_000): string => Array.from({ length: count }, () => one).join();
const message = `{"role":"user","content":${JSON.stringify('x'.repeat(50))}}`;

for (const [title, text] of [
  ['a comma too many at the end', `{"messages":[${many(message)},]}`],
  ['a comma too many at the beginning', `{"messages":[,${many(message)}]}`],
  ['a comma too many between', `{"messages":[${many(message)},,${many(message)}]}`],
  ['an element that is cut', `{"messages":[${many(message)},{"role":]}`],
  ['brackets that do not match', `{"messages":[${many(message)},{"a":1],{"b":2}]}`],
  ['a list that ends as an object', `{"messages":[${many(message)}}}`],
  ['a bad escape', `{"messages":[${many(message)},"\\x"]}`],
  ['a control character', `{"messages":[${many(message)},"\u0001"]}`],
  ['more after the object', `{"messages":[${many(message)}]} 1`],
  ['a list', `[[${many(message)}]]`],
  ['numbers with more digits than a double holds', `{"messages":[${many(message)},{"n":12345678901234567890}]}`],
] as const) {
  test(`read as a whole: ${title}`, (t) => {
    t.true(text.length > 100_000);
    t.is(readParts(text), undefined);
  });
}

test('a text that stands where a list could is left, and the last of two members counts', (t) => {
  const list = `[${many(message)}]`;
  const text = `{"seed":12345678901234567890,"tools":["list.0"],"messages":${list},"messages":["a",${list}]}`;
  const read = readParts(text);
  t.deepEqual(read, parseJson(text));
  t.is(bodyText(writeInParts(read ?? {})), text.replace(`"messages":${list},`, ''));
});

test('a nesting that is too deep isn’t read in parts', (t) => {
  const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  t.is(partsOf(Buffer.from(`{"messages":[${many(message)},${deep}]}`), depth), undefined);
  t.is(nodesWithin(parseJson(deep), depth - 1), undefined);
});
