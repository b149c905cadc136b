import test from 'ava';
import type { Fault, FaultKind } from '../../../engine/model/fault.ts';
import { decodeFault } from '../../../protocols/messages/decode-fault.ts';
import { encodeFault } from '../../../protocols/messages/encode-fault.ts';

const worded: readonly (readonly [kind: FaultKind, upstream: number | undefined, status: number, type: string])[] = [
  ['invalid-request', undefined, 400, 'invalid_request_error'],
  ['unsupported', undefined, 400, 'invalid_request_error'],
  ['no-route', undefined, 400, 'invalid_request_error'],
  ['unauthorized', undefined, 401, 'authentication_error'],
  ['forbidden', undefined, 403, 'permission_error'],
  ['not-found', undefined, 404, 'not_found_error'],
  ['read-only', undefined, 409, 'invalid_request_error'],
  ['method-not-allowed', undefined, 405, 'invalid_request_error'],
  ['upgrade-refused', undefined, 426, 'invalid_request_error'],
  ['request-timeout', undefined, 408, 'timeout_error'],
  ['too-large', undefined, 413, 'request_too_large'],
  ['unsupported-encoding', undefined, 415, 'invalid_request_error'],
  ['rate-limited', undefined, 429, 'rate_limit_error'],
  ['budget-exceeded', undefined, 429, 'rate_limit_error'],
  ['unavailable', undefined, 503, 'overloaded_error'],
  ['misconfigured', undefined, 401, 'authentication_error'],
  ['stage-failed', undefined, 500, 'api_error'],
  ['internal', undefined, 500, 'api_error'],
  ['upstream-invalid', undefined, 400, 'invalid_request_error'],
  ['upstream-invalid', 422, 422, 'invalid_request_error'],
  ['upstream-context', undefined, 400, 'invalid_request_error'],
  ['upstream-context', 413, 413, 'invalid_request_error'],
  ['upstream-auth', 403, 401, 'authentication_error'],
  ['upstream-billing', undefined, 402, 'billing_error'],
  ['upstream-forbidden', undefined, 403, 'permission_error'],
  ['upstream-not-found', undefined, 404, 'not_found_error'],
  ['upstream-too-large', undefined, 413, 'request_too_large'],
  ['upstream-rate-limit', undefined, 429, 'rate_limit_error'],
  ['upstream-rate-limit', 400, 400, 'rate_limit_error'],
  ['upstream-overloaded', 529, 529, 'overloaded_error'],
  ['upstream-overloaded', 503, 503, 'overloaded_error'],
  ['upstream-overloaded', undefined, 529, 'overloaded_error'],
  ['upstream-error', 500, 500, 'api_error'],
  ['upstream-error', 599, 599, 'api_error'],
  ['upstream-error', 600, 502, 'api_error'],
  ['upstream-error', 200, 502, 'api_error'],
  ['upstream-unreachable', undefined, 502, 'api_error'],
  ['upstream-garbled', 200, 502, 'api_error'],
  ['upstream-cut', undefined, 502, 'api_error'],
  ['upstream-timeout', undefined, 504, 'timeout_error'],
];
for (const [kind, upstream, status, type] of worded) {
  test(`${kind} (${upstream ?? 'no status'}) is ${status} ${type}`, (t) => {
    const wire = encodeFault({ kind, message: 'why', status: upstream }, 'req_1');
    t.is(wire.status, status);
    t.like(wire.body, { type: 'error', error: { type }, request_id: 'req_1' });
  });
}

test("a credentials fault never shows the upstream's message", (t) => {
  const { body } = encodeFault({ kind: 'upstream-auth', message: 'Incorrect API key provided: sk-12345' }, 'r');
  t.false(JSON.stringify(body).includes('sk-12345'));
});

for (const message of ['too big', 'prompt is too long: 5 tokens > 4 maximum']) {
  test(`a prompt that doesn't fit begins with the words that clients look for: ${message}`, (t) => {
    const { body } = encodeFault({ kind: 'upstream-context', message }, 'r');
    t.like(body, { error: { message: `prompt is too long: ${message.replace('prompt is too long: ', '')}` } });
  });
}

const error = (type: string, message: string): string => JSON.stringify({ type: 'error', error: { type, message } });
const decoded: readonly (readonly [title: string, status: number, body: string, fault: Partial<Fault>])[] = [
  ['by type', 400, error('invalid_request_error', 'bad'), { kind: 'upstream-invalid', message: 'bad', status: 400 }],
  [
    'too long',
    400,
    error('invalid_request_error', 'prompt is too long: 3 tokens > 2 maximum'),
    { kind: 'upstream-context' },
  ],
  [
    'out of credit',
    400,
    error('invalid_request_error', 'Your credit balance is too low'),
    { kind: 'upstream-billing' },
  ],
  [
    'wrong key',
    401,
    error('authentication_error', 'invalid x-api-key sk-1'),
    { kind: 'upstream-auth', message: "The provider refused the gateway's credentials." },
  ],
  ['rate limit', 429, error('rate_limit_error', 'slow down'), { kind: 'upstream-rate-limit' }],
  ['api error', 500, error('api_error', 'oops'), { kind: 'upstream-error', message: 'oops' }],
  ['an unknown type', 404, error('weird', 'gone'), { kind: 'upstream-not-found', code: 'weird' }],
  ['409', 409, '{}', { kind: 'upstream-invalid', message: 'The upstream answered with status 409.' }],
  ['plain error text', 502, '{"error":"no backend"}', { kind: 'upstream-error', message: 'no backend' }],
  [
    'HTML',
    503,
    '<html><h1>Down</h1></html>',
    { kind: 'upstream-overloaded', message: 'The upstream answered with status 503.' },
  ],
  ['nothing', 500, '', { kind: 'upstream-error', message: 'The upstream answered with status 500.' }],
  ['a stack trace', 500, error('api_error', 'boom\n    at f (/srv/a.js:1:2)'), { message: 'boom' }],
  ['a list', 400, '[1]', { kind: 'upstream-invalid', message: 'The upstream answered with status 400.' }],
];
const kinds: readonly (readonly [status: number, type: string, kind: FaultKind])[] = [
  [400, 'authentication_error', 'upstream-auth'],
  [400, 'billing_error', 'upstream-billing'],
  [400, 'permission_error', 'upstream-forbidden'],
  [400, 'not_found_error', 'upstream-not-found'],
  [400, 'request_too_large', 'upstream-too-large'],
  [400, 'rate_limit_error', 'upstream-rate-limit'],
  [400, 'overloaded_error', 'upstream-overloaded'],
  [400, 'timeout_error', 'upstream-timeout'],
  [400, 'api_error', 'upstream-error'],
  [500, 'invalid_request_error', 'upstream-invalid'],
  [401, 'api_error', 'upstream-auth'],
  [402, 'new', 'upstream-billing'],
  [403, 'new', 'upstream-forbidden'],
  [404, 'new', 'upstream-not-found'],
  [408, 'new', 'upstream-timeout'],
  [413, 'new', 'upstream-too-large'],
  [429, 'new', 'upstream-rate-limit'],
  [499, 'new', 'upstream-invalid'],
  [500, 'new', 'upstream-error'],
  [503, 'new', 'upstream-overloaded'],
  [504, 'new', 'upstream-timeout'],
  [529, 'new', 'upstream-overloaded'],
];
test('kinds of upstream faults by type, else by status', (t) => {
  for (const [status, type, kind] of kinds)
    t.is(decodeFault(status, {}, error(type, 'm')).kind, kind, `${status} ${type}`);
});

for (const [title, status, body, fault] of decoded) {
  test(`upstream: ${title}`, (t) => t.like(decodeFault(status, {}, body), fault));
}

test('only headers that tell when to try again are kept', (t) => {
  const kept = {
    'retry-after': '3',
    'retry-after-ms': '3000',
    'x-should-retry': 'true',
    'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:00Z',
    'x-ratelimit-limit-requests': '5',
  };
  const fault = decodeFault(429, { ...kept, 'set-cookie': 'a=b', 'request-id': 'req_2' }, '');
  t.deepEqual(fault.headers, kept);
  t.is(decodeFault(500, {}, '').headers, undefined);
});

test('phrases that clients match stay in front', (t) => {
  const told = (message: string) =>
    JSON.stringify(encodeFault({ kind: 'upstream-context', message }, 'req_1').body).match(/"message":"([^"]*)"/)?.[1];
  const asksForLess = 'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000';
  t.is(told(asksForLess), asksForLess);
  t.is(told('prompt is too long: 2 > 1'), 'prompt is too long: 2 > 1');
  t.is(told('it does not fit'), 'prompt is too long: it does not fit');
});
