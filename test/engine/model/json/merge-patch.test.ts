import test from 'ava';
import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from '../../../../engine/model/json/json.ts';
import { applyPatches } from '../../../../engine/model/json/merge-patch.ts';

/** RFC 7396, appendix A: those of its examples in which both are objects. */
const examples: readonly (readonly [value: string, patch: string, result: string])[] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  // Beyond the RFC: the name that an assignment would take for the prototype, and digits that a double can't hold.
  ['{"a":1}', '{"__proto__":{"b":2}}', '{"a":1,"__proto__":{"b":2}}'],
  ['{"seed":12345678901234567891,"a":{"n":1}}', '{"a":{"m":2}}', '{"seed":12345678901234567891,"a":{"n":1,"m":2}}'],
];

const parsed = (text: string): JsonObject => {
  const value: Json | undefined = parseJson(text);
  if (!isJsonObject(value)) throw new Error(text);
  return value;
};

for (const [value, patch, result] of examples) {
  test(`${value} with ${patch}`, (t) => {
    t.is(writeJson(applyPatches(parsed(value), [parsed(patch)])), result);
  });
}

test('patches apply in order, and what is inside the value stays as it was', (t) => {
  const inner = parsed('{"b":1}');
  const value = { a: inner };
  t.deepEqual(applyPatches({ ...value }, [{ a: null }, { a: { c: 2 } }]), { a: { c: 2 } });
  t.deepEqual(applyPatches({ ...value }, [{ a: { c: 2 } }, { a: { b: null } }]), { a: { c: 2 } });
  t.deepEqual(inner, { b: 1 });
});
