import test from 'ava';
import type { FaultKind } from '../../../engine/model/fault.ts';
import { geminiUpstream } from '../../../protocols/gemini/index.ts';
import { fixtures } from './fixtures.ts';

const { decodeFault } = geminiUpstream();

const error = (code: number, message: string, status = 'X', details: readonly object[] = []): string =>
  JSON.stringify({ error: { code, message, status, details } });

const cases: readonly (readonly [title: string, status: number, body: string, kind: FaultKind, message: string])[] = [
  ['a bad field', 400, error(400, 'Unknown name'), 'upstream-invalid', 'Unknown name'],
  [
    'a prompt that is too long',
    400,
    error(400, 'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).'),
    'upstream-context',
    'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
  ],
  [
    'a wrong key, by its reason',
    400,
    error(400, 'Bad key AIzaSecretSecretSecret', 'INVALID_ARGUMENT', [{ reason: 'API_KEY_INVALID' }]),
    'upstream-auth',
    "The upstream refused the provider's API key (status 400).",
  ],
  [
    'an expired key, by its words',
    400,
    error(400, 'API key expired. Please renew the API key.'),
    'upstream-auth',
    "The upstream refused the provider's API key (status 400).",
  ],
  ['no billing', 400, error(400, 'Enable billing.', 'FAILED_PRECONDITION'), 'upstream-billing', 'Enable billing.'],
  ['a region', 400, error(400, 'User location', 'FAILED_PRECONDITION'), 'upstream-invalid', 'User location'],
  [
    'no credentials',
    401,
    error(401, 'token ya29.secret is wrong'),
    'upstream-auth',
    "The upstream refused the provider's API key (status 401).",
  ],
  [
    'a suspended owner, whose key is quoted',
    403,
    error(403, "Permission denied: Consumer 'api_key:AIzaSyA-1234567890' has been suspended."),
    'upstream-forbidden',
    "Permission denied: Consumer 'api_key:…' has been suspended.",
  ],
  ['no such model', 404, error(404, 'models/x is not found'), 'upstream-not-found', 'models/x is not found'],
  ['too large', 413, '', 'upstream-too-large', 'The upstream answered with status 413.'],
  [
    'quota',
    429,
    error(429, 'check your plan and billing details'),
    'upstream-rate-limit',
    'check your plan and billing details',
  ],
  ['inside an array', 503, `[${error(503, 'busy')}]`, 'upstream-overloaded', 'busy'],
  ['an inner fault', 500, error(500, 'oops'), 'upstream-error', 'oops'],
  ['its deadline', 504, error(504, 'late'), 'upstream-timeout', 'late'],
  ['no money', 402, error(402, 'pay'), 'upstream-billing', 'pay'],
  ['a late request', 408, error(408, 'late'), 'upstream-timeout', 'late'],
  ['an unknown refusal', 499, error(499, 'no'), 'upstream-invalid', 'no'],
  ['overloaded elsewhere', 529, '', 'upstream-overloaded', 'The upstream answered with status 529.'],
  ['a text as error', 500, '{"error":"down"}', 'upstream-error', 'down'],
  [
    'a web page',
    502,
    '<html><body>Bad Gateway</body></html>',
    'upstream-error',
    'The upstream answered with status 502.',
  ],
  ['nothing', 429, '', 'upstream-rate-limit', 'The upstream answered with status 429.'],
  ['an empty array', 500, '[]', 'upstream-error', 'The upstream answered with status 500.'],
  ['null', 500, 'null', 'upstream-error', 'The upstream answered with status 500.'],
];

for (const [title, status, body, kind, message] of cases) {
  test(title, (t) => {
    const fault = decodeFault(status, {}, body);
    t.is(fault.kind, kind);
    t.is(fault.message, message);
    t.is(fault.status, status);
    t.false(JSON.stringify(fault).includes('AIza'));
  });
}

const waits: readonly (readonly [
  delay: string | undefined,
  header: string | undefined,
  expected: string | undefined,
])[] = [
  ['34s', undefined, '34'],
  ['34.2s', '99', '35'],
  ['0.001s', undefined, '1'],
  ['soon', '7', '7'],
  [undefined, '7', '7'],
  [undefined, undefined, undefined],
];

for (const [delay, header, expected] of waits) {
  test(`to wait: ${delay} in the body, ${header} in the head`, (t) => {
    const headers: Record<string, string> = header === undefined ? {} : { 'retry-after': header };
    const body = error(429, 'slow', 'RESOURCE_EXHAUSTED', delay === undefined ? [] : [{ retryDelay: delay }]);
    t.is(decodeFault(429, headers, body).headers?.['retry-after'], expected);
  });
}

const recorded = new Map(
  fixtures.map(({ name, status, bytes }) => [name, { status, body: new TextDecoder().decode(bytes) }]),
);

test('the recorded refusal of a key', (t) => {
  const { status, body } = recorded.get('json-error-400-key') ?? { status: 0, body: '' };
  const fault = decodeFault(status, {}, body);
  t.like(fault, { kind: 'upstream-auth', status: 400, code: 'INVALID_ARGUMENT' });
});

test('the recorded quota fault has a retry time', (t) => {
  const { status, body } = recorded.get('json-error-429') ?? { status: 0, body: '' };
  const fault = decodeFault(status, {}, body);
  t.like(fault, {
    kind: 'upstream-rate-limit',
    status: 429,
    code: 'RESOURCE_EXHAUSTED',
    headers: { 'retry-after': '48' },
  });
  t.true(fault.message.startsWith('You exceeded your current quota'));
});
