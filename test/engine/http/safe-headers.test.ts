import test from 'ava';
import { safeHeaders } from '../../../engine/http/headers.ts';

const values = [
  ['plain', 'plain'],
  ['', ''],
  ['a\r\nset-cookie: b', 'a  set-cookie: b'],
  ['a\0b\x7fc\td', 'a b c d'],
  ['café', 'caf\xe9'],
  ['模型 🚂', '?? ?'],
] as const;

for (const [value, expected] of values) {
  test(`S9 value ${JSON.stringify(value)} goes out safely`, (t) => {
    t.deepEqual(safeHeaders({ 'x-a': value }), ['x-a', expected]);
  });
}

test('S9 invalid names and framing headers are removed', (t) => {
  const names = [
    'a b',
    'a:b',
    '',
    'é',
    'x\r\ny',
    'Content-Length',
    'transfer-encoding',
    'Connection',
    'date',
    'upgrade',
    'X-Request-Id',
  ];
  const headers = Object.fromEntries([...names, 'x-good'].map((name) => [name, 'v']));
  t.deepEqual(safeHeaders(headers), ['x-good', 'v']);
});
