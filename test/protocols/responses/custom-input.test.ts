import test from 'ava';
import fc from 'fast-check';
import { CustomInput, wrapInput } from '../../../protocols/responses/encode-reply/custom-input.ts';
import { anyText } from '../../support/arbitraries/text.ts';

const unwrap = (...pieces: readonly string[]): string => {
  const input = new CustomInput();
  return pieces.map((piece) => input.push(piece)).join('') + input.end();
};

const cases = [
  ['plain', '{"input":"abc"}', 'abc'],
  ['white space around', ' { "input" : "abc" } ', 'abc'],
  ['empty', '{"input":""}', ''],
  ['all short escapes', '{"input":"\\"\\\\\\/\\b\\f\\n\\r\\t"}', '"\\/\b\f\n\r\t'],
  ['an escaped letter', '{"input":"\\u00e9\\u4E2d"}', 'é中'],
  ['an escape that JSON lacks', '{"input":"a\\d"}', 'a\\d'],
  ['a surrogate pair', '{"input":"\\ud83d\\ude00!"}', '😀!'],
  ['raw letters beyond the basic plane', '{"input":"😀"}', '😀'],
  ['members after the input', '{"input":"a","more":"b"}', 'a'],
  ['members before the input', '{"more":"b","input":"a"}', 'a'],
  ['an input that is no text', '{"input":{"a":1}}', '{"a":1}'],
  ['no input at all', '{"patch":"x"}', '{"patch":"x"}'],
  ['no JSON at all', '*** Begin Patch', '*** Begin Patch'],
  ['nothing', '', ''],
  ['cut inside the text', '{"input":"ab', 'ab'],
] as const;

for (const [title, json, expected] of cases) {
  test(`${title}: whole`, (t) => t.is(unwrap(json), expected));
  test(`${title}: letter by letter, and cut anywhere`, (t) => {
    t.is(unwrap(...json.split('')), expected);
    for (let at = 0; at <= json.length; at += 1)
      t.is(unwrap(json.slice(0, at), json.slice(at)), expected, `cut at ${at}`);
  });
}

test('text goes out as it arrives, not at the end', (t) => {
  const input = new CustomInput();
  t.is(input.push('{"inp'), '');
  t.is(input.push('ut":"a\\'), 'a');
  t.is(input.push('nb\\u00'), '\nb');
  t.is(input.push('e9\\ud83d'), 'é');
  t.is(input.push('\\ude00"'), '😀');
  t.is(input.push('}'), '');
  t.is(input.end(), '');
});

test('any text, written by any JSON writer and split anywhere, is unchanged', (t) => {
  const seed = Date.now() & 0xffff;
  t.log(`seed ${seed}`);
  const escapeAll = (json: string) =>
    json.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  fc.assert(
    fc.property(anyText(), fc.boolean(), fc.array(fc.nat(60)), (text, ascii, places) => {
      const json = ascii ? escapeAll(wrapInput(text)) : wrapInput(text);
      const edges = [0, ...places.filter((at) => at < json.length).sort((a, b) => a - b), json.length];
      t.is(unwrap(...edges.slice(1).map((to, index) => json.slice(edges[index], to))), text);
    }),
    { seed, numRuns: 300 },
  );
});
