import test from 'ava';
import { keyCheck } from '../../../engine/http/api-key.ts';

const cases = [
  ['bearer', { authorization: 'Bearer sécret' }, true],
  ['bearer in lower case, more spaces', { authorization: 'bearer   sécret' }, true],
  ['x-api-key', { 'x-api-key': 'sécret' }, true],
  ['both right', { authorization: 'Bearer sécret', 'x-api-key': 'sécret' }, true],
  ['one of both right', { authorization: 'Bearer other', 'x-api-key': 'sécret' }, true],
  ['the other one right', { authorization: 'Bearer sécret', 'x-api-key': 'other' }, true],
  ['neither', {}, false],
  ['wrong', { authorization: 'Bearer other' }, false],
  ['both wrong', { authorization: 'Bearer other', 'x-api-key': 'other' }, false],
  ['a beginning of it', { 'x-api-key': 'sécre' }, false],
  ['more than it', { 'x-api-key': 'sécrett' }, false],
  ['empty', { 'x-api-key': '', authorization: '' }, false],
  ['no scheme', { authorization: 'sécret' }, false],
  ['another scheme', { authorization: 'Basic sécret' }, false],
  ['repeated', { authorization: 'Bearer sécret, Bearer sécret' }, false],
] as const;

for (const [title, headers, passes] of cases) {
  test(`S16 key: ${title}`, (t) => t.is(keyCheck('sécret')(Object.entries(headers).flat()), passes));
}

test('without a key every request passes', (t) => {
  t.true(keyCheck(undefined)([]));
  t.true(keyCheck('')(['x-api-key', 'anything']));
});
