import test from 'ava';
import type { Fault, FaultKind } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { decodeReportedFault } from '../../../protocols/responses/decode-fault.ts';
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

const kinds: readonly (readonly [status: number | undefined, error: JsonObject, kind: FaultKind])[] = [
  [400, {}, 'upstream-invalid'],
  [402, {}, 'upstream-billing'],
  [404, {}, 'upstream-not-found'],
  [408, {}, 'upstream-timeout'],
  [413, {}, 'upstream-too-large'],
  [429, { message: 'context window' }, 'upstream-rate-limit'],
  [499, {}, 'upstream-invalid'],
  [500, { message: 'context window' }, 'upstream-error'],
  [504, {}, 'upstream-timeout'],
  [403, { type: 'authentication_error' }, 'upstream-auth'],
  [401, { message: 'context window' }, 'upstream-auth'],
  [403, { code: 'invalid_api_key' }, 'upstream-auth'],
  [403, { type: 'billing' }, 'upstream-billing'],
  [undefined, {}, 'upstream-error'],
  [undefined, { message: 'context window' }, 'upstream-context'],
  [undefined, { code: 'context_length_exceeded' }, 'upstream-context'],
  [undefined, { type: 'rate_limit_error' }, 'upstream-rate-limit'],
  ...['overloaded', 'service_unavailable', 'slow_down'].map((code): [undefined, JsonObject, FaultKind] => [
    undefined,
    { code },
    'upstream-overloaded',
  ]),
  ...['invalid_prompt', 'invalid_request', 'invalid_image', 'image_content_policy_violation'].map(
    (code): [undefined, JsonObject, FaultKind] => [undefined, { code }, 'upstream-invalid'],
  ),
];

test('kinds of faults by status and code, and inside a reply', (t) => {
  for (const [status, error, kind] of kinds) {
    const body = { error: { message: 'm', ...error } };
    const fault = status
      ? responsesUpstream.decodeFault(status, {}, JSON.stringify(body))
      : decodeReportedFault(body.error);
    t.is(fault.kind, kind, JSON.stringify([status, error]));
  }
});

const reported: readonly (readonly [error: unknown, fault: Fault])[] = [
  [
    { type: 'error', message: 'm', param: 'p' },
    { kind: 'upstream-error', message: 'm', param: 'p' },
  ],
  [
    { detail: 'd', code: 'c' },
    { kind: 'upstream-error', message: 'd', code: 'c' },
  ],
  [{ error: { message: '' } }, { kind: 'upstream-error', message: 'The upstream reported an error.' }],
  ['down', { kind: 'upstream-error', message: 'down' }],
  [undefined, { kind: 'upstream-error', message: 'The upstream reported an error.' }],
  [
    { code: 'invalid_api_key', message: 'm' },
    { kind: 'upstream-auth', message: "The upstream refused the provider's credentials." },
  ],
];

test('errors inside a reply', (t) => {
  for (const [error, fault] of reported) t.deepEqual(decodeReportedFault(error), fault);
});

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
