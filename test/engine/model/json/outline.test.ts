import test from 'ava';
import fc from 'fast-check';
import { outlineOf } from '../../../../engine/model/json/outline.ts';

const options = { cut: new Set(['text']), depth: 3 };
const outline = (json: string | Uint8Array) => outlineOf(Buffer.from(json), options);
/** A body with this text in a string that is cut, `before` bytes behind its start. */
const around = (text: string, before: number): string =>
  `{"model":"m","text":"${'x'.repeat(before)}${text}${'y'.repeat(100)}"}`;

test('long strings of the members named are cut, and found again', (t) => {
  const text = `${'größer "😀" \\ / \n'.repeat(20)}\u0007`;
  const json = JSON.stringify({ model: 'm', text, other: text, texts: [text], deep: { text } });
  const found = outline(json);
  const cut = JSON.parse(found?.json ?? '');
  t.deepEqual(cut, { ...JSON.parse(json), text: cut.text, deep: { text: cut.deep.text } });
  for (const mark of [cut.text, cut.deep.text]) {
    t.true(mark.length < 30);
    t.is(found?.restore(mark), text);
    const [from, to] = found?.rangeOf(mark) ?? [0, 0];
    t.is(JSON.parse(Buffer.from(json).toString('utf8', from - 1, to + 1)), text);
  }
  for (const [before, after] of [
    ['a ', ' b'],
    ['', '1'],
    ['', '.'],
    ['', cut.deep.text],
  ] as const) {
    const joined = `${before}${cut.text}${after}`;
    t.is(found?.rangeOf(joined), undefined, 'no mark alone');
    t.is(found?.restore(joined), `${before}${text}${after === cut.deep.text ? text : after}`);
  }
  t.is(found?.restore(found.json), json, 'in JSON');
  t.is(found?.restore('no mark'), 'no mark');
  t.is(found?.rangeOf('no mark'), undefined);
});

test('what is at the beginning of a cut string is checked as the parser does', (t) => {
  const units = Array.from({ length: 129 }, (_, code) => String.fromCharCode(code));
  const escapes = units.map((unit) => `\\${unit}`);
  const numbers = ['\\u', '\\u1', '\\u12', '\\u123', '\\u1234', '\\uabCD', '\\u12G4', '\\ud800', '\\u 123'];
  for (const text of [...units, ...escapes, ...numbers, 'é', '転', '🚂']) {
    for (let before = 0; before < 9; before += 1) {
      const json = around(text, before);
      let valid = true;
      try {
        JSON.parse(json);
      } catch {
        valid = false;
      }
      const found = outline(json);
      const accepted = found !== undefined && JSON.parse(found.json) !== undefined;
      if (text !== '"') t.is(accepted, valid, JSON.stringify({ text, before }));
    }
  }
});

test('a long string ends where the parser ends it, whatever quotes and backslashes it has', (t) => {
  const unit = fc.constantFrom('"', '\\', '\\\\', 'ab', 'x'.repeat(61), '\n', 'é');
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 60 }), fc.array(unit, { maxLength: 9 }), (units, more) => {
      const json = JSON.stringify({ model: 'm', text: 'x'.repeat(150) + units.join(''), other: more.join('') });
      const found = outline(json);
      t.deepEqual(JSON.parse(found?.restore(found.json) ?? ''), JSON.parse(json));
    }),
  );
});

test('a string that doesn’t end has no outline', (t) => {
  const from = '{"model":"m","text":"'.length;
  for (let more = 0; more < 100; more += 1) t.is(outline(around('', 0).slice(0, from + more)), undefined);
});

test('bytes that are no text have no outline', (t) => {
  const body = Buffer.from(around('', 0));
  for (const at of [1, 30, body.length - 1]) {
    const changed = Buffer.from(body);
    changed[at] = 0xff;
    t.is(outline(changed), undefined);
  }
});

test('the model must be there once, as a string, and its place is known', (t) => {
  const json = '{ "a" : {"model":1}, "model"\n: "m" , "z": 1 }';
  t.deepEqual(outline(json)?.model, [json.indexOf('"m"'), json.indexOf('"m"') + 3]);
  for (const none of [
    '{}',
    '{"model":1}',
    '{"model":"a","model":"b"}',
    '{"mod\\u0065l":"a","model":"b"}',
    '["model"]',
  ]) {
    t.is(outline(none), undefined, none);
  }
});

test('deeper nesting has no outline', (t) => {
  t.truthy(outline('{"model":"m","a":[[1],{}]}'));
  t.is(outline('{"model":"m","a":[[[1]]]}'), undefined);
});

test('a blank text is not cut, since its readers may take it for none', (t) => {
  const blanks = [' ', '\\n', '\\t\\r\\n ', '\u00a0', '\u3000 ', '\ufeff', '\\u0020', '\\u2003\\n', '\\u000b'];
  const isCut = (text: string): boolean => {
    const json = `{"model":"m","text":"${text}"}`;
    return JSON.parse(outline(json)?.json ?? '').text !== JSON.parse(json).text;
  };
  for (const blank of blanks) {
    t.false(isCut(blank.repeat(100)), blank);
    t.false(isCut(blank.repeat(Math.ceil(79 / Buffer.byteLength(blank)))), blank);
    t.true(isCut(`${blank.repeat(3)}${'é'.repeat(50)}${blank}`), blank);
  }
});
