import { hash } from 'node:crypto';
import test from 'ava';
import { type KeySettings, keyCheck } from '../../../../engine/http/access/access.ts';

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
  ['in its own header', { 'x-junctor-api-key': 'sécret', authorization: 'Bearer other' }, true],
  ['a wrong one in its own header', { 'x-junctor-api-key': 'other', 'x-api-key': 'sécret' }, false],
  ['empty in its own header', { 'x-junctor-api-key': '', 'x-api-key': 'sécret' }, false],
] as const;

const ownerOf = (settings: KeySettings, headers: object): string | undefined => {
  const owner = keyCheck(settings)(Object.entries(headers).flat());
  return owner?.type === 'client' ? owner.name : owner?.type;
};

for (const [title, headers, passes] of cases) {
  test(`S16 key: ${title}`, (t) => t.is(ownerOf({ apiKey: 'sécret' }, headers), passes ? 'administrator' : undefined));
  test(`S16 a client's key: ${title}`, (t) => {
    const clients = [
      { name: 'one', keyHash: hash('sha256', 'sécret') },
      { name: 'two', keyHash: hash('sha256', 'another') },
    ];
    t.is(ownerOf({ apiKey: 'admin', clients }, headers), passes ? 'one' : undefined);
  });
}

test('without a configured key every request is keyless, whatever it carries', (t) => {
  t.is(ownerOf({}, {}), 'keyless');
  t.is(ownerOf({ apiKey: '' }, { 'x-api-key': 'anything' }), 'keyless');
});

test('with clients and no APIKEY, a request without a key is told from one with a wrong key', (t) => {
  const clients = [{ name: 'one', keyHash: hash('sha256', 'k') }];
  t.is(ownerOf({ clients }, {}), 'keyless');
  t.is(ownerOf({ clients }, { 'x-api-key': 'wrong' }), undefined);
  t.is(ownerOf({ clients }, { 'x-api-key': '' }), undefined);
  t.is(ownerOf({ clients }, { authorization: 'Bearer k' }), 'one');
  t.is(ownerOf({ clients: [] }, { 'x-api-key': 'k' }), undefined);
});

test("of two keys the administrator's counts", (t) => {
  const clients = [{ name: 'one', keyHash: hash('sha256', 'k') }];
  t.is(ownerOf({ apiKey: 'a', clients }, { authorization: 'Bearer k', 'x-api-key': 'a' }), 'administrator');
  t.is(ownerOf({ apiKey: 'a', clients }, { authorization: 'Bearer a', 'x-api-key': 'k' }), 'administrator');
});
