import test from 'ava';
import fc from 'fast-check';
import { splitText, tokenLowerBound, tokenLowerBoundOfJson } from '../../../../engine/routing/tokens/estimate.ts';

const cases = [
  ['nothing', '', 1],
  ['a sentence', 'The quick brown fox.', 1],
  ['a text of common length', 'word '.repeat(10_000), 1],
  ['a long text', 'word '.repeat(100_000), 8],
  ['one letter many times', 'a'.repeat(1000), 4],
  ['spaces', ' '.repeat(1000), 4],
  ['signs', '-+'.repeat(500), 4],
  ['another alphabet', '字'.repeat(1000), 4],
  ['signs of both kinds', '-—'.repeat(500), 4],
  ['spaces of both kinds', ' \u00a0'.repeat(500), 4],
  ['letters and digits', 'a1'.repeat(500), 1],
] as const;
for (const [title, text, count] of cases) test(`pieces of ${title}`, (t) => t.is(splitText(text).length, count));

const leastTokens: readonly (readonly [text: string, least: number, ofJson?: number])[] = [
  ['', 0],
  ['a', 1, 0],
  ['a b Z z A', 4],
  [' a b', 2],
  [' @ [ ` { \u00e9', 1, 0],
  ['  a', 1],
  ['1234567', 3, 0],
  ['1 1', 2, 0],
  ['123-123', 2, 0],
  ['/0:9', 2, 0],
  ['12\u00e93', 1, 0],
  [' 1a', 1, 0],
  ['x'.repeat(128), 1, 0],
  ['x'.repeat(129), 2, 0],
];
test('the least tokens of a text, and of a string inside JSON', (t) => {
  for (const [text, least, ofJson = least] of leastTokens) {
    t.is(tokenLowerBound(text), least, text);
    const json = Buffer.from(JSON.stringify({ text }));
    const from = '{"text":"'.length;
    t.is(tokenLowerBoundOfJson(json, from, json.length - 2), ofJson, text);
  }
});

const loneSurrogate = /\p{Cs}/u;

const texts = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', 'Z', '1', ' ', '\n', '-', '字', '😀', '—', '\u00a0'),
      fc.integer({ min: 1, max: 700 }),
    ),
  )
  .map((runs) => runs.map(([unit, times]) => unit.repeat(times)).join(''));

test('pieces make up the text, and no pair is broken', (t) => {
  fc.assert(
    fc.property(texts, (text) => {
      const pieces = splitText(text);
      return pieces.join('') === text && pieces.every((piece) => !loneSurrogate.test(piece));
    }),
  );
  t.pass();
});

/** What the encoder keeps together, and what costs it the square of its length. */
const runs = /[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+|\s+/gu;

test('no piece has a run that costs much', (t) => {
  fc.assert(
    fc.property(texts, (text) =>
      splitText(text).every((piece) => (piece.match(runs) ?? []).every((run) => run.length <= 600)),
    ),
  );
  t.pass();
});
