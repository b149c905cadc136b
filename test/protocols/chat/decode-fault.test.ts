import test from 'ava';
import type { Fault, FaultKind } from '../../../engine/model/fault.ts';
import { decodeFault, decodeReportedFault } from '../../../protocols/chat/decode-fault.ts';
import { recordings } from './recordings.ts';

const error = (body: object) => JSON.stringify({ error: body });

const cases: readonly (readonly [title: string, status: number, body: string, kind: FaultKind, message?: RegExp])[] = [
  [
    'a plain one',
    400,
    error({ message: 'bad', type: 'invalid_request_error', code: null }),
    'upstream-invalid',
    /^bad$/,
  ],
  ['unprocessable', 422, error({ message: 'bad' }), 'upstream-invalid'],
  ['context by code', 400, error({ message: 'long', code: 'context_length_exceeded' }), 'upstream-context', /^long$/],
  [
    'context by words',
    400,
    error({ message: "This model's maximum context length is 5 tokens", code: 400 }),
    'upstream-context',
  ],
  [
    'context by metadata',
    400,
    error({ message: 'long', code: 400, metadata: { error_type: 'context_length_exceeded' } }),
    'upstream-context',
  ],
  [
    'context in an array',
    400,
    JSON.stringify([{ error: { code: 400, message: 'The input token count (9) exceeds the maximum' } }]),
    'upstream-context',
  ],
  [
    'a wrong key',
    401,
    error({ message: 'Incorrect API key provided: sk-abc***xyz', code: 'invalid_api_key' }),
    'upstream-auth',
    /^(?!.*sk-)/,
  ],
  [
    'a wrong key with another status',
    400,
    error({ message: 'no', status: 'INVALID', code: 'API_KEY_INVALID' }),
    'upstream-auth',
  ],
  [
    'no quota',
    429,
    error({ message: 'pay', type: 'insufficient_quota', code: 'insufficient_quota' }),
    'upstream-billing',
  ],
  ['no balance', 402, error({ message: 'Insufficient Balance' }), 'upstream-billing'],
  ['forbidden', 403, error({ message: 'flagged', code: 403 }), 'upstream-forbidden', /flagged/],
  ['no such model', 404, error({ message: 'none', code: 'model_not_found' }), 'upstream-not-found'],
  ['too large', 413, error({ message: 'big' }), 'upstream-too-large'],
  [
    'too many tokens a minute',
    413,
    error({ message: 'slow', type: 'tokens', code: 'rate_limit_exceeded' }),
    'upstream-rate-limit',
  ],
  ['a limit', 429, error({ message: 'slow' }), 'upstream-rate-limit'],
  [
    'a limit with the words behind it',
    429,
    error({ message: 'Provider returned error', metadata: { raw: 'try later' } }),
    'upstream-rate-limit',
    /try later$/,
  ],
  ['capacity', 498, error({ message: 'flex' }), 'upstream-overloaded'],
  ['overloaded', 503, error({ message: 'full' }), 'upstream-overloaded'],
  ['overloaded elsewhere', 529, '', 'upstream-overloaded', /status 529/],
  ['a server error', 500, error({ message: 'oops', type: 'server_error' }), 'upstream-error'],
  ['a server error about context windows', 500, error({ message: 'context window lookup failed' }), 'upstream-error'],
  [
    'a gateway',
    502,
    '<html><body>Bad Gateway</body></html>',
    'upstream-error',
    /^The upstream answered with status 502\.$/,
  ],
  ['a timeout', 504, '', 'upstream-timeout'],
  ['a timeout at the edge', 524, '', 'upstream-timeout'],
  ['a text for an error', 400, JSON.stringify({ error: 'bad' }), 'upstream-invalid', /^bad$/],
  ['a bare object', 400, JSON.stringify({ message: 'bad' }), 'upstream-invalid', /^bad$/],
  ['a detail', 400, JSON.stringify({ detail: 'bad' }), 'upstream-invalid', /^bad$/],
  ['no balance by type', 403, error({ message: 'pay', type: 'billing_error' }), 'upstream-billing'],
  ['no balance by code', 403, error({ message: 'pay', code: 'payment_required' }), 'upstream-billing'],
  ['a wrong key by type', 403, error({ message: 'no', type: 'authentication_error' }), 'upstream-auth'],
  ['a wrong key by code', 403, error({ message: 'no', code: 'authentication' }), 'upstream-auth'],
  ['a wrong key by status', 401, error({ message: 'context window' }), 'upstream-auth', /credentials/],
  ['a limit by type', 400, error({ message: 'slow', type: 'rate_limit_error' }), 'upstream-rate-limit'],
  ['a limit about context windows', 429, error({ message: 'context window' }), 'upstream-rate-limit'],
  ['a late request', 408, '', 'upstream-timeout'],
  ['an unknown refusal', 499, error({ message: 'no' }), 'upstream-invalid'],
  ['a status in words', 400, error({ message: 'no', status: 'API_KEY_INVALID' }), 'upstream-auth'],
  [
    'a message and its detail',
    400,
    error({ message: 'a', detail: 'b', metadata: { raw: 'c' } }),
    'upstream-invalid',
    /^a: b: c$/,
  ],
  ['nothing', 400, '', 'upstream-invalid', /status 400/],
  ['null', 500, 'null', 'upstream-error', /status 500/],
];

for (const [title, status, body, kind, message = /./] of cases) {
  test(`${status}: ${title}`, (t) => {
    const fault = decodeFault(status, {}, body);
    t.is(fault.kind, kind);
    t.is(fault.status, status);
    t.regex(fault.message, message);
    t.is(fault.headers, undefined);
  });
}

const reported: readonly (readonly [error: unknown, fault: Partial<Fault>])[] = [
  ['down', { kind: 'upstream-error', message: 'down', status: undefined }],
  [{}, { kind: 'upstream-error', message: 'The upstream reported an error.', code: undefined, param: undefined }],
  [
    { message: 'm', param: 'p', code: 'c' },
    { kind: 'upstream-error', message: 'm', param: 'p', code: 'c' },
  ],
  [{ message: 'm', param: '' }, { param: undefined }],
  [
    { code: 'invalid_api_key' },
    { message: 'The upstream refused the credentials of this provider.', code: 'invalid_api_key' },
  ],
  [
    { code: 400, message: 'm' },
    { kind: 'upstream-invalid', status: 400 },
  ],
  [
    { status_code: 599, message: 'm' },
    { kind: 'upstream-error', status: 599 },
  ],
  [{ status: 503 }, { kind: 'upstream-overloaded', status: 503, message: 'The upstream answered with status 503.' }],
  [{ code: 399 }, { kind: 'upstream-error', status: undefined }],
  [{ code: 600 }, { kind: 'upstream-error', status: undefined }],
  [{ message: 'context window is full' }, { kind: 'upstream-context' }],
  ...(
    [
      ['upstream-overloaded', 'overloaded_error', 'provider_overloaded', 'service_unavailable', 'engine_overloaded'],
      ['upstream-not-found', 'model_not_found', 'not_found'],
      ['upstream-invalid', 'invalid_request_error', 'invalid_request', 'invalid_prompt'],
      ['upstream-rate-limit', 'rate_limit_exceeded', 'rate_limit_error'],
    ] as const
  ).flatMap(([kind, ...types]) => types.map((type) => [{ type }, { kind, code: type }] as const)),
];

test('errors inside a reply', (t) => {
  for (const [error, fault] of reported) t.like(decodeReportedFault(error), fault, JSON.stringify(error));
});

test('headers that tell when to try again are kept, others are not', (t) => {
  const kept = {
    'retry-after': '2',
    'retry-after-ms': '1500',
    'x-should-retry': 'false',
    'x-ratelimit-reset-tokens': '6m0s',
  };
  t.deepEqual(decodeFault(429, { ...kept, 'set-cookie': 'a', authorization: 'b' }, '').headers, kept);
  t.deepEqual(decodeFault(429, { 'retry-after': '2' }, '').headers, { 'retry-after': '2' });
});

test('what looks like a key is not shown', (t) => {
  const { message } = decodeFault(400, {}, error({ message: 'key sk-proj-abcdefgh123 and Bearer abc.def failed' }));
  t.is(message, 'key *** and *** failed');
});

test('an empty code counts as none', (t) => {
  t.is(decodeFault(400, {}, error({ message: 'm', code: '', type: 'bad_thing' })).code, 'bad_thing');
  t.is(decodeFault(400, {}, error({ message: 'm', code: '', type: '' })).code, undefined);
});

const recorded: Readonly<Record<string, Partial<Fault>>> = {
  'json-error-400-image': { kind: 'upstream-invalid', code: 'invalid_image_format' },
  'json-error-400-role': { kind: 'upstream-invalid', code: 'unsupported_value', param: 'messages[0].role' },
  'json-error-404-model': { kind: 'upstream-not-found', code: 'model_not_found' },
};

for (const { name, bytes, expected } of recordings.filter((recording) => recording.expected.http_status !== 200)) {
  test(`recorded: ${name}`, (t) => {
    const fault = decodeFault(Number(expected.http_status), {}, Buffer.from(bytes).toString());
    t.like(fault, recorded[name] ?? { kind: 'internal' });
    t.like({ error: { message: fault.message } }, { error: { message: messageOf(expected.error) } });
  });
}

const messageOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'message' in value ? value.message : undefined;
