import test from 'ava';
import { parseJson, writeJson } from '../../../../engine/model/json/json.ts';
import { readJsonInPieces, writeJsonInPieces } from '../../../../engine/model/json/long-texts.ts';

const finished = <T>(work: Generator<undefined, T>): T => {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
};

/** More than a slice of text. */
const length = 280 * 1024;
const long = (unit: string): string => unit.repeat(Math.ceil(length / unit.length));
const digits = '[12345678901234567890,-1e400,{"toJSON":0.1234567890123456789}]';

/** JSON text around a padding, which shifts what a cut between two slices meets. */
const bodies: Readonly<Record<string, (pad: string) => string>> = {
  plain: (pad) => `{"a":"${pad}${long('word ')}","b":[1,null,true]}`,
  escapes: (pad) => `{"a":"${pad}${long('\\\\\\"\\n\\u00e9')}"}`,
  backslashes: (pad) => `{"a":"${pad}${long('\\\\')}"}`,
  'escaped pairs': (pad) => `["${pad}${long('\\ud83d\\ude00')}"]`,
  pairs: (pad) => `["${pad}${long('😀')}"]`,
  'lone surrogates': (pad) => `["${pad}${long('\\ud83d😀\\ude00')}"]`,
  'of two and three bytes': (pad) => ` { "a" : "${pad}${long('é漢')}" , "b" : "x" } `,
  'many of middle length': (pad) => `[${long(`"${pad}${'ab\\n'.repeat(2_000)}",`)}0]`,
  'digits that a double rounds': (pad) =>
    `{"n":${digits},"a":"${pad}${long(': 12345678901234567890 ')}","m":${digits}}`,
  'a long name': (pad) => `{"${pad}${long('n')}":"${long('v')}","b":${digits}}`,
  'a name that comes twice': (pad) => `{"a":"${pad}${long('x')}","a":"${long('y')}","b":"${long('z')}"}`,
  'names with a meaning': (pad) =>
    `{"__proto__":"${pad}${long('x')}","toJSON":"${long('y')}","constructor":1,"n":${digits}}`,
  'deeply nested': (pad) => `${'['.repeat(500)}"${pad}${long('x')}"${']'.repeat(500)}`,
  'short after long': (pad) => `["${pad}${long('x')}","","a\\u0041","${'y'.repeat(4_100)}"]`,
  'only a string': (pad) => `"${pad}${long('x')}"`,
  'a bad escape': (pad) => `["${pad}${long('x')}\\x${long('x')}"]`,
  'a line end in a string': (pad) => `["${pad}${long('x')}\n"]`,
  'an open string': (pad) => `["${pad}${long('x')}`,
  'an open list': (pad) => `["${pad}${long('x')}"`,
  'a backslash at the end': (pad) => `["${pad}${long('x')}\\`,
};

for (const [title, bodyOf] of Object.entries(bodies)) {
  test(`${title}: the value and the bytes are those of the whole text`, (t) => {
    for (let shift = 0; shift < 12; shift += 1) {
      const body = bodyOf('-'.repeat(shift));
      const bytes = Buffer.from(body);
      const expected = parseJson(body);
      // Chunks of other lengths than slices have.
      const chunks = [bytes.subarray(0, 100_001), bytes.subarray(100_001, 100_002), bytes.subarray(100_002)];
      const { value, texts } = finished(readJsonInPieces(chunks));
      if (expected === undefined) {
        t.is(value, undefined);
        continue;
      }
      // No `deepEqual`: it would print differences of this length.
      t.true(JSON.stringify(value) === JSON.stringify(expected), `${shift}: the value`);
      if (value === undefined || value === null) return;
      const written = Buffer.from(writeJson(Object(expected)));
      t.is(Buffer.compare(finished(writeJsonInPieces(Object(value), texts)), written), 0, `${shift}: with known texts`);
      t.is(Buffer.compare(finished(writeJsonInPieces(Object(value), [])), written), 0, `${shift}: without them`);
    }
  });
}

test('bytes that are no UTF-8 are replaced as in the whole text, wherever a cut falls', (t) => {
  for (let shift = 0; shift < 8; shift += 1) {
    const parts = ['["', '-'.repeat(shift), long('ab'), '"]'].map((text) => Buffer.from(text));
    const broken = Buffer.from([0xf0, 0x9f, 0x98, 0xe9, 0x80, 0xff, 0xed, 0xa0, 0x80]);
    const unit = Buffer.concat(Array.from({ length: 50_000 }, () => broken));
    const bytes = Buffer.concat([...parts.slice(0, 3), unit, ...parts.slice(3)]);
    const { value } = finished(readJsonInPieces([bytes]));
    t.true(JSON.stringify(value) === JSON.stringify(JSON.parse(new TextDecoder().decode(bytes))), `${shift}`);
  }
});

test('no step handles more than a part', (t) => {
  const bytes = Buffer.from(`{"a":"${long('x')}","b":"${long('é')}"}`);
  const reading = readJsonInPieces([bytes]);
  let reads = 0;
  let read = reading.next();
  for (; !read.done; read = reading.next()) reads += 1;
  t.true(reads >= Math.floor(bytes.length / (256 * 1024)));
  const writing = writeJsonInPieces(Object(read.value.value), read.value.texts);
  let writes = 0;
  while (!writing.next().done) writes += 1;
  t.true(writes >= Math.floor(bytes.length / (256 * 1024)));
});
