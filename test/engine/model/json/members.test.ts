import test from 'ava';
import fc from 'fast-check';
import { parseJson } from '../../../../engine/model/json/json.ts';
import { itemsIn, memberNamed, membersIn } from '../../../../engine/model/json/members.ts';

/** A string's JSON text with each unit escaped. */
const escaped = (text: string): string =>
  `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;

/** JSON texts with blanks and escapes. */
const written = fc.oneof(
  fc
    .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t', '\r\n '))
    .map(([value, indent]) => JSON.stringify(value, null, indent)),
  fc.string({ unit: 'grapheme' }).map(escaped),
);
const named = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('a', 'b', '__proto__', ''));
const object = fc
  .array(fc.tuple(named, written, fc.constantFrom(escaped, JSON.stringify)), { maxLength: 5 })
  .map((all) => ` {${all.map(([name, text, write]) => ` ${write(name)} :\n${text}\t`).join(',')}} `);
const array = fc.array(written, { maxLength: 5 }).map((all) => `\n[${all.map((text) => ` ${text} `).join(',')}]`);

/** As text and as bytes, each with what takes a range out of it. */
const forms = (text: string) => {
  const bytes = Buffer.from(text);
  return [
    { json: text, cut: (from: number, to: number) => text.slice(from, to) },
    { json: bytes, cut: (from: number, to: number) => bytes.toString('utf8', from, to) },
  ] as const;
};

test('members and items are those that a parser reads, of texts and of bytes; a part of them is none', (t) => {
  fc.assert(
    fc.property(fc.oneof(object, array), (text) => {
      const whole: unknown = JSON.parse(text);
      for (const { json, cut } of forms(text)) {
        const [members, items] = [membersIn(json), itemsIn(json)];
        if (Array.isArray(whole)) {
          t.is(members, undefined);
          t.deepEqual(
            items?.map(({ from, to }) => JSON.parse(cut(from, to))),
            whole,
          );
        } else {
          t.is(items, undefined);
          const names = members?.map(({ name }) => name) ?? ['none'];
          t.deepEqual(new Set(names), new Set(Object.keys(Object(whole))));
          for (const name of names) {
            const last = memberNamed(members ?? [], name);
            t.deepEqual(
              last && JSON.parse(cut(last.from, last.to)),
              Object.getOwnPropertyDescriptor(whole, name)?.value,
            );
          }
          for (const { name, at, to } of members ?? [])
            t.deepEqual(Object.keys(JSON.parse(`{${cut(at, to)}}`)), [name]);
        }
      }
      const { length } = text.trimEnd();
      for (let end = 0; end < length; end += 1) {
        for (const json of [text.slice(0, end), Buffer.from(text).subarray(0, end)]) {
          t.is(membersIn(json) ?? itemsIn(json), undefined, `cut at ${end}`);
        }
      }
    }),
  );
});

test('whatever else a text is, nothing is thrown, and what a parser accepts is found', (t) => {
  const piece = fc.constantFrom(...'{}[]:,"\\ a1é\n\u0001', '', '"a"', 'null', '\\u12', '\\"', '{"a":', '1e5');
  fc.assert(
    fc.property(fc.oneof(object, array), fc.double({ min: 0, max: 1, noNaN: true }), piece, (right, place, put) => {
      const at = Math.floor(place * right.length);
      const text = `${right.slice(0, at)}${put}${right.slice(at + 1)}`;
      const whole = parseJson(text);
      for (const { json } of forms(text)) {
        const [members, items] = [membersIn(json), itemsIn(json)];
        t.false(members !== undefined && items !== undefined);
        if (typeof whole !== 'object' || whole === null) continue;
        t.is(Array.isArray(whole), items !== undefined);
        t.is(Array.isArray(whole), members === undefined);
      }
    }),
    { numRuns: 500 },
  );
});

test('more entries than asked for are none, and time is linear', (t) => {
  const list = `[${Array.from({ length: 10_001 }, () => 1).join(',')}]`;
  t.is(itemsIn(list), undefined);
  t.is(itemsIn(list, 10_001)?.length, 10_001);
  for (const unit of ['"', '\\', '\\"', '[', '{"a":', '{"a":"\\', '1', ' ', ',']) {
    const text = `{"a":${unit.repeat(200_000)}`;
    const fromMs = performance.now();
    for (const { json } of forms(text)) t.is(membersIn(json), undefined);
    t.true(performance.now() - fromMs < 2_000, unit);
  }
});
