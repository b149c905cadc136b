import test from 'ava';
import { addressText, headerValue, joinHeaders } from '../../../engine/http/headers.ts';

const addresses = [
  [[127, 0, 0, 1], '127.0.0.1'],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], '::1'],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 255], '10.0.0.255'],
  [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2], '2001:db8::1:2'],
  [[], ''],
] as const;

for (const [bytes, expected] of addresses) {
  test(`address ${expected}`, (t) => t.is(addressText(Uint8Array.from(bytes).buffer), expected));
}

test('repeated headers are joined, and no name is special', (t) => {
  const list = ['a', '1', '__proto__', 'x', 'a', '2', 'constructor', 'y'];
  const headers = joinHeaders(list);
  t.is(headers.a, '1, 2');
  t.deepEqual(Object.keys(headers), ['a', '__proto__', 'constructor']);
  t.is(Object.getPrototypeOf(headers), null);
  for (const name of ['a', '__proto__', 'constructor', 'toString']) t.is(headerValue(list, name), headers[name]);
});
