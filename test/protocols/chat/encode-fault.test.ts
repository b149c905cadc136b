import test from 'ava';
import type { Fault, FaultKind } from '../../../engine/model/fault.ts';
import { chatClient } from '../../../protocols/chat/index.ts';

const { encodeFault, encodeBreak } = chatClient;

const cases: readonly (readonly [
  FaultKind,
  status: number | undefined,
  expected: number,
  type: string,
  code: string | null,
])[] = [
  ['invalid-request', undefined, 400, 'invalid_request_error', null],
  ['unsupported', undefined, 400, 'invalid_request_error', 'unsupported_parameter'],
  ['no-route', undefined, 400, 'invalid_request_error', 'model_not_found'],
  ['unauthorized', undefined, 401, 'invalid_request_error', 'invalid_api_key'],
  ['forbidden', undefined, 403, 'invalid_request_error', 'forbidden'],
  ['not-found', undefined, 404, 'invalid_request_error', 'not_found'],
  ['read-only', undefined, 409, 'invalid_request_error', 'read_only'],
  ['method-not-allowed', undefined, 405, 'invalid_request_error', 'method_not_allowed'],
  ['upgrade-refused', undefined, 426, 'invalid_request_error', 'upgrade_required'],
  ['request-timeout', undefined, 408, 'invalid_request_error', 'request_timeout'],
  ['too-large', undefined, 413, 'invalid_request_error', 'request_too_large'],
  ['unsupported-encoding', undefined, 415, 'invalid_request_error', 'unsupported_encoding'],
  ['rate-limited', undefined, 429, 'rate_limit_exceeded', 'rate_limit_exceeded'],
  ['budget-exceeded', undefined, 429, 'insufficient_quota', 'budget_exceeded'],
  ['unavailable', undefined, 503, 'server_error', 'service_unavailable'],
  ['misconfigured', undefined, 401, 'invalid_request_error', 'provider_misconfigured'],
  ['stage-failed', undefined, 500, 'server_error', 'transformer_failed'],
  ['upstream-invalid', 399, 400, 'invalid_request_error', null],
  ['upstream-invalid', 422, 422, 'invalid_request_error', null],
  ['upstream-context', 413, 400, 'invalid_request_error', 'context_length_exceeded'],
  ['upstream-auth', 401, 401, 'invalid_request_error', 'invalid_api_key'],
  ['upstream-auth', 400, 401, 'invalid_request_error', 'invalid_api_key'],
  ['upstream-auth', undefined, 401, 'invalid_request_error', 'invalid_api_key'],
  ['upstream-billing', 429, 429, 'insufficient_quota', 'insufficient_quota'],
  ['upstream-billing', undefined, 402, 'insufficient_quota', 'insufficient_quota'],
  ['upstream-forbidden', undefined, 403, 'invalid_request_error', 'permission_denied'],
  ['upstream-forbidden', 400, 400, 'invalid_request_error', 'permission_denied'],
  ['upstream-not-found', undefined, 404, 'invalid_request_error', 'model_not_found'],
  ['upstream-not-found', 400, 400, 'invalid_request_error', 'model_not_found'],
  ['upstream-too-large', undefined, 413, 'invalid_request_error', 'request_too_large'],
  ['upstream-too-large', 400, 400, 'invalid_request_error', 'request_too_large'],
  ['upstream-rate-limit', undefined, 429, 'rate_limit_exceeded', 'rate_limit_exceeded'],
  ['upstream-rate-limit', 503, 503, 'rate_limit_exceeded', 'rate_limit_exceeded'],
  ['upstream-overloaded', 529, 503, 'server_error', 'service_unavailable'],
  ['upstream-overloaded', undefined, 503, 'server_error', 'service_unavailable'],
  ['upstream-overloaded', 498, 498, 'server_error', 'service_unavailable'],
  ['upstream-error', 500, 500, 'server_error', 'server_error'],
  ['upstream-error', 599, 599, 'server_error', 'server_error'],
  ['upstream-error', 600, 502, 'server_error', 'server_error'],
  ['upstream-error', 200, 502, 'server_error', 'server_error'],
  ['upstream-unreachable', undefined, 502, 'server_error', 'upstream_unreachable'],
  ['upstream-garbled', 200, 502, 'server_error', 'upstream_garbled'],
  ['upstream-cut', undefined, 502, 'server_error', 'upstream_cut'],
  ['upstream-timeout', undefined, 504, 'server_error', 'timeout'],
  ['upstream-timeout', 524, 524, 'server_error', 'timeout'],
  ['internal', undefined, 500, 'server_error', 'internal_error'],
];

for (const [kind, status, expected, type, code] of cases) {
  test(`${kind}${status === undefined ? '' : `, upstream ${status}`}: ${expected}`, (t) => {
    t.deepEqual(encodeFault({ kind, message: 'm', status }, 'r'), {
      status: expected,
      body: { error: { message: 'm', type, param: null, code } },
    });
  });
}

test('the path and code of the field at fault', (t) => {
  const fault: Fault = { kind: 'unsupported', message: 'm', param: 'n', code: 'c' };
  t.like(encodeFault(fault, 'r').body, { error: { param: 'n', code: 'c' } });
});

test('codes that clients act upon stay as they are', (t) => {
  for (const [kind, code] of [
    ['unauthorized', 'invalid_api_key'],
    ['upstream-context', 'context_length_exceeded'],
    ['upstream-billing', 'insufficient_quota'],
  ] as const) {
    t.like(encodeFault({ kind, message: 'm', code: 'other' }, 'r').body, { error: { code } });
  }
});

test('a broken pass-through ends in the protocol’s own error', (t) => {
  const records = encodeBreak({ kind: 'upstream-cut', message: 'm' }, 'r');
  t.is(records[0]?.event, '');
  t.like(JSON.parse(records[0]?.data ?? ''), { error: { message: 'm' } });
  t.deepEqual(records.map(chatClient.ends.read), ['end']);
});
