import test from 'ava';
import fc, { type Arbitrary } from 'fast-check';
import {
  hasKeptDigits,
  isJsonObject,
  type JsonObject,
  parseJson,
  writeJson,
} from '../../../../engine/model/json/json.ts';
import { inputObject, inputText } from '../../../../engine/model/request.ts';
import { exactArgs } from '../../../support/arbitraries/exact-args.ts';

const parsed = (text: string): JsonObject => {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Error(`no object: ${text}`);
  return value;
};

for (const number of [
  '12345678901234567890',
  '-9007199254740993',
  '0.1234567890123456789',
  '1e400',
  '-1E+400',
  '1e-400',
  '1.00000000000000000001e5',
  '123456789.12345678',
  '123456789012345678901e3',
]) {
  test(`${number} keeps its digits`, (t) => {
    for (const text of [
      `{"id":${number}}`,
      `{"a":[1,{"b":[${number},null]}],"c":"x"}`,
      `{"a":{"b":{}},"c":[[],${number}]}`,
    ]) {
      const value = parsed(text);
      t.is(writeJson(value), text);
      t.is(writeJson({ outer: [value], other: undefined }), `{"outer":[${text}]}`);
      t.is(inputText(value), text);
      t.deepEqual(Object.getOwnPropertyNames(value), Object.getOwnPropertyNames(JSON.parse(text)));
      t.is(JSON.stringify(value), JSON.stringify(JSON.parse(text)), 'other code reads plain numbers');
    }
  });
}

for (const number of ['1', '-0.1', '1e30', '1.50000000000000000000', '1e300', '0e999', '9007199254740992']) {
  test(`${number} is a double like any other`, (t) => {
    const value = parsed(`{"n":[${number}]}`);
    t.false(hasKeptDigits(value));
    t.deepEqual(parsed(writeJson(value)).n, JSON.parse(`[${number}]`));
  });
}

test('a number that was changed, or removed from its object, is written with its current value', (t) => {
  const value = parsed('{"a":12345678901234567890,"b":12345678901234567891}');
  t.is(writeJson({ ...value }), '{"a":12345678901234567000,"b":12345678901234567000}');
  t.is(
    writeJson(Object.assign(value, { a: 5, c: 12345678901234567000 })),
    '{"a":5,"b":12345678901234567891,"c":12345678901234567000}',
  );
});

test('of members with the same name the last one counts', (t) => {
  const written = (text: string): string => writeJson(parsed(text));
  t.is(written('{"a":12345678901234567890,"a":1}'), '{"a":1}');
  t.is(written('{"a":12345678901234567890,"a":12345678901234567891}'), '{"a":12345678901234567891}');
  t.is(written('{"a":12345678901234567890,"a":12345678901234567000}'), '{"a":12345678901234567000}');
  t.is(written('{"a":{"b":12345678901234567890},"a":[7]}'), '{"a":[7]}');
  t.is(
    written('{"a":[12345678901234567890],"a":{"0":7,"b":12345678901234567890}}'),
    '{"a":{"0":7,"b":12345678901234567890}}',
  );
});

test('numbers in texts and in member names are kept', (t) => {
  for (const text of [
    '{"text":": 12345678901234567890, \\" 12345678901234567890"}',
    '{"a\\"b\\\\":{"\\u0061": 12345678901234567890 , "12345678901234567890":1}}',
    '{"__proto__":12345678901234567890,"toJSON":{"x":12345678901234567890},"constructor":1}',
  ]) {
    const expected = JSON.stringify(JSON.parse(text)).replaceAll('12345678901234567000', '12345678901234567890');
    t.is(writeJson(parsed(text)), expected);
  }
});

const anyJson: Arbitrary<string> = fc.json({ maxDepth: 5 });

test('text without such numbers parses as JSON.parse parses it', (t) => {
  fc.assert(
    fc.property(anyJson, (text) => {
      t.deepEqual(parseJson(text), JSON.parse(text));
      t.is(writeJson(parseJson(text) ?? null), JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('arguments of any shape come out as they were', (t) => {
  fc.assert(
    fc.property(exactArgs, (text) => {
      t.is(writeJson(inputObject(text) ?? {}), text);
      t.is(writeJson({ a: [parseJson(text) ?? null] }), `{"a":[${text}]}`);
    }),
  );
});

test('white space around a number makes no difference', (t) => {
  const value = parsed('{ "a" :\n\t12345678901234567890 ,\r\n "b" : [ 1 , -9007199254740993 ] }');
  t.is(writeJson(value), '{"a":12345678901234567890,"b":[1,-9007199254740993]}');
});
