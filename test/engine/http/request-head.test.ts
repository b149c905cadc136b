import test from 'ava';
import { framingFault } from '../../../engine/http/headers.ts';

const length = (value: string) => ['content-length', value] as const;
const coding = (value: string) => ['transfer-encoding', value] as const;

const good = [[], [length('0')], [length('33554432')], [length('007')], [coding('chunked')], [coding('Chunked')]];
for (const headers of good) {
  test(`${JSON.stringify(headers)} is well framed`, (t) => t.is(framingFault(headers.flat()), undefined));
}

const bad = [
  [length('3'), length('5')],
  [length('3'), length('3')],
  [length('3'), coding('chunked')],
  [coding('chunked'), coding('chunked')],
  [coding('gzip, chunked')],
  [coding('chunked, gzip')],
  [coding('identity')],
  [coding('')],
  [coding('xchunked')],
  [length('')],
  [length('-1')],
  [length('+1')],
  [length('1.0')],
  [length('1e3')],
  [length('0x10')],
  [length('1, 1')],
  [length(' 1')],
  [length('9999999999999999')],
  [length('١')],
];
for (const headers of bad) {
  test(`${JSON.stringify(headers)} is malformed`, (t) => t.is(framingFault(headers.flat())?.kind, 'invalid-request'));
}
