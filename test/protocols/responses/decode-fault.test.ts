import test from 'ava';
import type { Fault } from '../../../engine/model/fault.ts';
import { responsesUpstream } from '../../../protocols/responses/index.ts';

const decoded: readonly (readonly [string, number, string, Partial<Fault>])[] = [
  [
    'the usual shape',
    400,
    '{"error":{"message":"m","type":"invalid_request_error","param":"p","code":"c"}}',
    { kind: 'upstream-invalid', message: 'm', param: 'p', code: 'c' },
  ],
  ['a bare text', 500, '{"error":"m"}', { kind: 'upstream-error', message: 'm' }],
  ['a list', 429, '[{"error":{"message":"m"}}]', { kind: 'upstream-rate-limit', message: 'm' }],
  ['a code that is a number', 400, '{"error":{"message":"m","code":400}}', { kind: 'upstream-invalid', code: '400' }],
  ['HTML', 502, '<html>', { kind: 'upstream-error', message: 'The upstream answered with status 502.' }],
  ['nothing', 503, '', { kind: 'upstream-overloaded' }],
  ['529', 529, '', { kind: 'upstream-overloaded' }],
  [
    'a prompt that is too long, by its words',
    400,
    '{"error":{"message":"This model\'s maximum context length is 5"}}',
    { kind: 'upstream-context' },
  ],
  ['no money left', 429, '{"error":{"message":"m","code":"insufficient_quota"}}', { kind: 'upstream-billing' }],
  ['no such model', 404, '{"error":{"message":"m"}}', { kind: 'upstream-not-found' }],
  ['forbidden', 403, '{"error":{"message":"m"}}', { kind: 'upstream-forbidden' }],
];

for (const [title, status, body, expected] of decoded) {
  test(`decoded: ${title}`, (t) => {
    const fault = responsesUpstream.decodeFault(status, {}, body);
    t.like(fault, { status, ...expected });
  });
}

test("an upstream's message on the provider's key is not repeated", (t) => {
  const fault = responsesUpstream.decodeFault(401, {}, '{"error":{"message":"Incorrect API key provided: sk-abc"}}');
  t.is(fault.kind, 'upstream-auth');
  t.false(JSON.stringify(fault).includes('sk-abc'));
});

test('retry headers are kept, others are not', (t) => {
  const headers = { 'retry-after': '3', 'x-ratelimit-reset-tokens': '1s', 'set-cookie': 'c' };
  t.deepEqual(responsesUpstream.decodeFault(429, headers, '').headers, {
    'retry-after': '3',
    'x-ratelimit-reset-tokens': '1s',
  });
});

test('a failure without an error text is described by its status', (t) => {
  t.is(responsesUpstream.decodeFault(418, {}, '{"error":""}').message, 'The upstream answered with status 418.');
});
