import test from 'ava';
import type { Fault } from '../../../engine/model/fault.ts';
import { parseJson } from '../../../engine/model/json.ts';
import { responsesClient, responsesUpstream } from '../../../protocols/responses/index.ts';
import { recordsOf } from '../../support/events.ts';

const encoded: readonly (readonly [Fault, number, string, string | null])[] = [
  [{ kind: 'invalid-request', message: 'x', param: 'input[0]' }, 400, 'invalid_request_error', null],
  [{ kind: 'unsupported', message: 'x' }, 400, 'invalid_request_error', 'unsupported_parameter'],
  [{ kind: 'no-route', message: 'x' }, 400, 'invalid_request_error', 'model_not_found'],
  [{ kind: 'unauthorized', message: 'x' }, 401, 'invalid_request_error', 'invalid_api_key'],
  [{ kind: 'not-found', message: 'x' }, 404, 'invalid_request_error', 'unknown_url'],
  [{ kind: 'method-not-allowed', message: 'x' }, 405, 'invalid_request_error', 'method_not_supported'],
  [{ kind: 'too-large', message: 'x' }, 413, 'invalid_request_error', 'request_too_large'],
  [{ kind: 'unsupported-encoding', message: 'x' }, 415, 'invalid_request_error', 'unsupported_encoding'],
  [{ kind: 'upstream-context', message: 'x', status: 400 }, 400, 'invalid_request_error', 'context_length_exceeded'],
  [{ kind: 'upstream-invalid', message: 'x', status: 422 }, 422, 'invalid_request_error', null],
  [{ kind: 'upstream-auth', message: 'x', status: 403 }, 401, 'invalid_request_error', 'invalid_api_key'],
  [{ kind: 'upstream-rate-limit', message: 'x', status: 429 }, 429, 'requests', 'rate_limit_exceeded'],
  [{ kind: 'upstream-overloaded', message: 'x', status: 529 }, 503, 'server_error', 'service_unavailable'],
  [{ kind: 'upstream-error', message: 'x', status: 500 }, 500, 'server_error', 'server_error'],
  [{ kind: 'upstream-error', message: 'x', status: 529 }, 503, 'server_error', 'server_error'],
  [{ kind: 'upstream-error', message: 'x', status: 302 }, 502, 'server_error', 'server_error'],
  [{ kind: 'upstream-error', message: 'x', code: 'theirs' }, 502, 'server_error', 'theirs'],
  [{ kind: 'upstream-garbled', message: 'x' }, 502, 'server_error', 'server_error'],
  [{ kind: 'upstream-timeout', message: 'x' }, 504, 'server_error', 'timeout'],
  [{ kind: 'internal', message: 'x' }, 500, 'server_error', 'server_error'],
];

for (const [fault, status, type, code] of encoded) {
  test(`${fault.kind} ${fault.status ?? ''} ${fault.code ?? ''}`, (t) => {
    t.deepEqual(responsesClient.encodeFault(fault, 'r'), {
      status,
      body: { error: { message: 'x', type, param: fault.param ?? null, code } },
    });
  });
}

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

test("what the upstream says of the provider's key is not repeated", (t) => {
  const fault = responsesUpstream.decodeFault(401, {}, '{"error":{"message":"Incorrect API key provided: sk-abc"}}');
  t.is(fault.kind, 'upstream-auth');
  t.false(JSON.stringify(fault).includes('sk-abc'));
});

test('headers that tell when to try again are kept, others are not', (t) => {
  const headers = { 'retry-after': '3', 'x-ratelimit-reset-tokens': '1s', 'set-cookie': 'c' };
  t.deepEqual(responsesUpstream.decodeFault(429, headers, '').headers, {
    'retry-after': '3',
    'x-ratelimit-reset-tokens': '1s',
  });
});

test('a relayed stream that breaks off ends in response.failed, wherever it was cut', (t) => {
  const text = responsesClient.encodeBreak({ kind: 'upstream-cut', message: 'm' }, 'r1');
  const last = recordsOf(Buffer.from(`event: response.output_text.delta\ndata: {"ty${text}`)).at(-1);
  t.is(last?.event, 'response.failed');
  t.like(parseJson(last?.data ?? ''), {
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'server_error', message: 'm' } },
  });
});

test('a fault whose code is empty gets the code of its kind', (t) => {
  const text = responsesClient.encodeBreak({ kind: 'upstream-cut', message: 'm', code: '' }, 'r1');
  t.like(parseJson(recordsOf(Buffer.from(text)).at(-1)?.data ?? ''), {
    response: { error: { code: 'server_error' } },
  });
});

test('a failure whose error is empty is told by its status', (t) => {
  t.is(responsesUpstream.decodeFault(418, {}, '{"error":""}').message, 'The upstream answered with status 418.');
});
