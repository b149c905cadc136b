import test from 'ava';
import { isJsonObject } from '../../../../engine/model/json/json.ts';
import { textMask } from '../../../../engine/observe/log/mask-text.ts';
import { maskFields } from '../../../../engine/observe/log/record-writer.ts';

const none: readonly string[] = [];
const mask = (fields: object) =>
  maskFields(
    { ...fields },
    textMask(() => none),
  );

const cases = [
  ['a named secret', { apiKey: 'k', model: 'm' }, { apiKey: '***', model: 'm' }],
  ['a named object', { credentials: { id: 1 } }, { credentials: '***' }],
  [
    'no secret where there is none',
    { apiKey: '', token: 5, cookie: null, key: true },
    { apiKey: '', token: 5, cookie: null, key: true },
  ],
  ['a deep one', { a: [{ headers: { 'X-Api-Key': 'k' } }] }, { a: [{ headers: { 'X-Api-Key': '***' } }] }],
  [
    'a flat header list',
    { h: ['accept', '*', 'cookie', 'k', 'host', 'h'] },
    { h: ['accept', '*', 'cookie', '***', 'host', 'h'] },
  ],
  [
    'header pairs',
    {
      h: [
        ['x-api-key', 'k'],
        ['a', 'b'],
      ],
    },
    {
      h: [
        ['x-api-key', '***'],
        ['a', 'b'],
      ],
    },
  ],
  ['Headers', { h: new Headers({ authorization: 'Bearer k', a: 'b' }) }, { h: { a: 'b', authorization: '***' } }],
  ['a Map', { m: new Map([['token', 'k']]) }, { m: { token: '***' } }],
  ['a text', { reason: 'refused Bearer k' }, { reason: 'refused Bearer ***' }],
  ['a secret as a name', { by: { 'sk-0123456789': 3 } }, { by: { '***': 3 } }],
  ['a URL', { url: new URL('http://u:p@h/?key=k') }, { url: 'http://***@h/?key=***' }],
  ['bytes', { body: Buffer.from('abc') }, { body: '3 bytes' }],
  [
    'odd values',
    { n: 1n, x: Number.NaN, f: () => 1, d: new Date(0) },
    { n: '1', x: 'NaN', f: undefined, d: '1970-01-01T00:00:00.000Z' },
  ],
  [
    'reserved names',
    { level: 'x', time: 1, pid: 2, hostname: 'h', msg: 'm' },
    { level_: 'x', time_: 1, pid_: 2, hostname_: 'h', msg_: 'm' },
  ],
] as const;
for (const [title, fields, clean] of cases) test(title, (t) => t.deepEqual(mask(fields), { ...clean }));

test('an error keeps its details, without secrets', (t) => {
  const cause = Object.assign(new TypeError('key sk-0123456789'), { token: 'k' });
  const error = Object.assign(new Error('call with Bearer k failed', { cause }), { headers: { cookie: 'k' } });
  const text = JSON.stringify(mask({ error }));
  const { error: clean } = JSON.parse(text);
  t.is(clean.message, 'call with Bearer *** failed');
  t.deepEqual(clean.headers, { cookie: '***' });
  t.is(clean.cause.message, 'key ***');
  t.is(clean.cause.token, '***');
  t.regex(clean.stack, /mask-fields\.test/);
  t.notRegex(text, /sk-0123|Bearer k/);
});

test('an error given as the fields themselves keeps its message', (t) => {
  class WithCode extends Error {
    [name: string]: unknown;
    code = 'E';
  }
  t.like(
    maskFields(new WithCode('why'), (text) => text),
    { message: 'why', code: 'E' },
  );
});

test('unreadable values are marked', (t) => {
  const throwing = Object.defineProperty({}, 'x', {
    enumerable: true,
    get() {
      throw new Error('no');
    },
  });
  t.deepEqual(mask({ throwing, a: 1 }), { throwing: '(unreadable)', a: 1 });
  t.deepEqual(
    maskFields(throwing, (text) => text),
    { fields: '(unreadable)' },
  );
});

test('cycles, endless lists and long texts are cut', (t) => {
  const cycle: Record<string, unknown> = { a: 1 };
  cycle.self = cycle;
  t.regex(JSON.stringify(mask(cycle)), /"self":"…"/);
  const large = {
    list: Array.from({ length: 100_000 }, (_, index) => index),
    table: { ...Array.from({ length: 5000 }) },
  };
  t.true(JSON.stringify(mask(large)).length < 10_000);
  const long = JSON.stringify(mask({ texts: Array.from({ length: 100 }, () => 'x'.repeat(100_000)) }));
  t.true(long.length < 100_000);
  t.true(long.includes('… (100000 characters)'));
});

test('a __proto__ member stays a member', (t) => {
  const clean = mask({ value: JSON.parse('{"__proto__":{"polluted":1}}') });
  t.is(JSON.stringify(clean), '{"value":{"__proto__":{"polluted":1}}}');
  t.false(isJsonObject(clean.value) && 'polluted' in clean.value);
});
