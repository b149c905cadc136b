import test from 'ava';
import fc from 'fast-check';
import { patchText, replaceMember } from '../../../../engine/model/json/replace-member.ts';

const cases = [
  ['first', '{"model":"a","x":1}', '{"model":"NEW","x":1}'],
  ['last, with blanks', '{ "x" : [1, 2] , "model" : "a" }', '{ "x" : [1, 2] , "model" : "NEW" }'],
  [
    'only at the top',
    '{"x":{"model":"in"},"y":[{"model":"in"}],"model":"a"}',
    '{"x":{"model":"in"},"y":[{"model":"in"}],"model":"NEW"}',
  ],
  ['each of several', '{"model":"a","model":"b"}', '{"model":"NEW","model":"NEW"}'],
  ['an escaped key', '{"mod\\u0065l":"a"}', '{"mod\\u0065l":"NEW"}'],
  ['a value that looks like the key', '{"x":"model","model":"a"}', '{"x":"model","model":"NEW"}'],
  [
    'braces, quotes and backslashes in strings',
    '{"x":"}\\"{,\\\\","model":"a\\\\\\""}',
    '{"x":"}\\"{,\\\\","model":"NEW"}',
  ],
  ['big numbers stay', '{"model":"a","n":12345678901234567890}', '{"model":"NEW","n":12345678901234567890}'],
  ['absent', '{"x":1}', '{"x":1}'],
  ['empty', '{}', '{}'],
  ['no string', '{"model":{"a":[1,{"b":2}]},"x":null}', '{"model":"NEW","x":null}'],
] as const;

for (const [title, text, expected] of cases) {
  test(title, (t) => t.is(replaceMember(text, 'model', '"NEW"'), expected));
}

test('any object: only the member changes, to the byte', (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), fc.nat(3), (rest, model, indent) => {
      const { model: _, ...others } = rest;
      const before = JSON.stringify({ ...others, model, z: 1 }, null, indent);
      const after = JSON.stringify({ ...others, model: 'NEW', z: 1 }, null, indent);
      t.is(replaceMember(before, 'model', '"NEW"'), after);
    }),
  );
});

test('a patch removes, replaces and adds members, and leaves the others as they are written', (t) => {
  const text = '{ "model" : "m", "n":1e400, "mod\\u0065l":1, "stream":true ,"big": 12345678901234567890 }';
  t.is(
    patchText(text, { model: null, version: 'v', stream: false }),
    '{"version":"v","stream":false,"n":1e400,"big": 12345678901234567890}',
  );
  t.is(patchText(' {}', { model: null }), '{}');
  t.is(patchText('{"model":"}"}', { model: null, a: ['b'] }), '{"a":["b"]}');
});

test('any patched object is what a parsed one would be', (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.nat(3), (object, name, indent) => {
      const others = Object.fromEntries(Object.entries(object).filter(([other]) => other !== name));
      // Text has no negative zero.
      const expected: unknown = JSON.parse(JSON.stringify(others));
      t.deepEqual(JSON.parse(patchText(JSON.stringify(object, null, indent), { [name]: null })), expected);
    }),
  );
});
