import test from 'ava';
import fc from 'fast-check';
import { replaceMember } from '../../../../engine/model/json/replace-member.ts';

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
