import test from 'ava';
import { BytePieces, type CallBody } from '../../../engine/model/call-body.ts';
import { awsKeyIn, secretsOfKey } from '../../../engine/model/clouds.ts';
import { signed } from '../../../engine/upstream/sign-aws.ts';

const text = '{"max_tokens":9,"text":"żółw"}';
const bytes = new TextEncoder().encode(text);
const id = 'AKIAIOSFODNN7EXAMPLE';
const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const sessionToken = 'the+session/token==';
const profile = encodeURIComponent('arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-x');

/** The signatures are those that npm @smithy/signature-v4 5.7.5 makes of the same requests. */
const calls: readonly (readonly [url: string, body: CallBody, key: string, signature: string])[] = [
  [
    'https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke',
    text,
    `${id}:${secret}:${sessionToken}`,
    '043bd1e0a8bc360a82ca9fcc981b13049361c7cf9b5eee3e54363de20d0b8844',
  ],
  [
    `https://bedrock-runtime.us-east-1.amazonaws.com/model/${profile}/invoke-with-response-stream?b=2%20~*&a=1`,
    bytes,
    `${id}:${secret}`,
    'bde25eed4ddd31bc28cef2be0d42a99edf1341ddfdf25fdfba1d0004ea5913b9',
  ],
  [
    'https://bedrock-mantle.us-west-2.api.aws/anthropic/v1/messages',
    new BytePieces([bytes.subarray(0, 7), bytes.subarray(7)]),
    JSON.stringify({ Version: 1, AccessKeyId: id, SecretAccessKey: secret }),
    '360fa899c37d765d1cddeb9110f27db4f5a637ea42802b964c7c422a6de67183',
  ],
];

for (const [url, body, apiKey, signature] of calls) {
  test(`the signature of ${url}`, (t) => {
    const key = awsKeyIn(apiKey);
    if (!key) return t.fail('no key');
    const call = { url: new URL(url), headers: { 'content-type': 'application/json', accept: 'x' }, body };
    const { authorization = '', ...headers } = signed(call, key, Date.parse('2026-11-28T12:34:56.789Z'));
    t.regex(authorization, new RegExp(`, Signature=${signature}$`));
    t.like(headers, { accept: 'x', 'x-amz-date': '20261128T123456Z' });
    return t.false(JSON.stringify([authorization, headers]).includes(secret));
  });
}

for (const sent of [
  '',
  'ABSKbedrock-key',
  'ya29.token',
  'sk-a:b:c',
  `${id}:a:b:c`,
  '{"AccessKeyId":"x"}',
  '{',
  `${id}:`,
]) {
  test(`${JSON.stringify(sent)} is no key for signatures`, (t) => t.is(awsKeyIn(sent), undefined));
}

test('the secrets of a key for signatures are masked one by one', (t) => {
  t.deepEqual(secretsOfKey('sk-a:b'), ['sk-a:b']);
  const whole = `${id}:${secret}:${sessionToken}`;
  t.deepEqual(secretsOfKey(whole), [whole, secret, sessionToken]);
});
