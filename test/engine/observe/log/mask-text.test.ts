import test from 'ava';
import { textMask } from '../../../../engine/observe/log/mask-text.ts';
import { cpuTimeMs } from '../../../support/processes/cpu-time.ts';

const none: readonly string[] = [];
const mask = textMask(() => none);

const cases = [
  ['sent Authorization: Bearer abc.DEF-123_x', 'sent Authorization: ***'],
  ['Bearer short', 'Bearer ***'],
  ['{"authorization":"Basic dXNlcjpwdw=="}', '{"authorization":"***"}'],
  ['{\\"authorization\\":\\"Basic dXNlcjpwdw==\\"}', '{\\"authorization\\":\\"***\\"}'],
  ['Incorrect API key provided: sk-proj-abcdef123456.', 'Incorrect API key provided: ***.'],
  ['key sk-ant-api03-abc_DEF-123 refused', 'key *** refused'],
  ['gsk_0123456789abcdef and AIzaSyA0123456789abcdefgh', '*** and ***'],
  ['a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_def b', 'a *** b'],
  ['x-api-key: k1, next', 'x-api-key: ***, next'],
  ["apiKey='k1'", "apiKey='***'"],
  ['cookie: a=b; c=d\r\nhost: h', 'cookie: ***\r\nhost: h'],
  ['access_token=abc&x=1', 'access_token=***&x=1'],
  ['GET /v1beta/models?key=abc&alt=sse', 'GET /v1beta/models?key=***&alt=sse'],
  ['http://user:pw@proxy:8080/', 'http://***@proxy:8080/'],
] as const;
for (const [text, clean] of cases) {
  test(`masks: ${text}`, (t) => {
    t.is(mask(text), clean);
    t.is(mask(clean), clean);
  });
}

const harmless = [
  'max_tokens: 100 is over the cap',
  'maxtoken: 5',
  'Providers[0].apiKey: must be string',
  'the risk-averse task-manager-of-today',
  'an api key is required',
  'http://127.0.0.1:3456/v1/messages?beta=true',
  'see a@b.example',
];
for (const text of harmless) test(`leaves: ${text}`, (t) => t.is(mask(text), text));

test('masks configured secrets of any shape, however they are encoded, and follows a new list', (t) => {
  let secrets: readonly string[] = ['canary', 'canary-longer', 'a"b/c d\\e', 'short'];
  const maskListed = textMask(() => secrets);
  t.is(maskListed('xcanaryx canary-longer short'), 'x***x *** short');
  t.is(maskListed(JSON.stringify('a"b/c d\\e')), '"***"');
  t.is(maskListed(encodeURIComponent('a"b/c d\\e')), '***');
  secrets = ['\ud800broken', 'other-one'];
  t.is(maskListed('canary other-one'), 'canary ***');
});

test('masks a configured secret in base64 at any place of a longer text, and in URLs in any spelling', (t) => {
  const secret = 'canary+key/of ours?77';
  const maskListed = textMask(() => [secret]);
  const url = encodeURIComponent(secret);
  for (const text of [
    url,
    url.replace(/%../g, (code) => code.toLowerCase()),
    url.replaceAll('%20', '+'),
    encodeURIComponent(url),
  ])
    t.is(maskListed(`a=${text};`), 'a=***;');
  for (const [before, after] of [
    ['', ''],
    ['u:', ''],
    ['x', 'y'],
    ['user', ':'],
    ['ab', 'cde'],
  ]) {
    for (const alphabet of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(before + secret + after).toString(alphabet);
      for (const text of [encoded, encodeURIComponent(encoded)]) {
        const clean = maskListed(`a ${text} b`);
        t.regex(clean, /\*\*\*/, text);
        // What is left holds less than the first and the last character.
        t.true(clean.length <= `a ${before}${after}${'*'.repeat(3)} b`.length * 2 + 8, clean);
      }
    }
  }
  t.is(
    maskListed(Buffer.from('nothing of the kind').toString('base64')),
    Buffer.from('nothing of the kind').toString('base64'),
  );
});

test('takes linear time for hostile texts', (t) => {
  const hostile = ['key'.repeat(50_000), 'token '.repeat(30_000), `://${'a'.repeat(200_000)}`, 'sk-'.repeat(60_000)];
  hostile.push(
    `bearer${' '.repeat(200_000)}`,
    `token${' '.repeat(200_000)}`,
    '://'.repeat(60_000),
    'eyJ-'.repeat(50_000),
  );
  const startedAt = cpuTimeMs();
  for (const text of hostile) mask(text);
  const tookMs = cpuTimeMs() - startedAt;
  t.true(tookMs < 8_000, `${tookMs} ms`);
});
