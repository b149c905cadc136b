import test from 'ava';
import type { Fault } from '../../../engine/model/fault.ts';
import { parseJson } from '../../../engine/model/json/json.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';

const encoded: readonly (readonly [Fault, number, string, string | null])[] = [
  [{ kind: 'invalid-request', message: 'x', param: 'input[0]' }, 400, 'invalid_request_error', null],
  [{ kind: 'unsupported', message: 'x' }, 400, 'invalid_request_error', 'unsupported_parameter'],
  [{ kind: 'no-route', message: 'x' }, 400, 'invalid_request_error', 'model_not_found'],
  [{ kind: 'unauthorized', message: 'x' }, 401, 'invalid_request_error', 'invalid_api_key'],
  [{ kind: 'forbidden', message: 'x' }, 403, 'invalid_request_error', 'forbidden'],
  [{ kind: 'not-found', message: 'x' }, 404, 'invalid_request_error', 'unknown_url'],
  [{ kind: 'read-only', message: 'x' }, 409, 'invalid_request_error', 'read_only'],
  [{ kind: 'method-not-allowed', message: 'x' }, 405, 'invalid_request_error', 'method_not_supported'],
  [{ kind: 'upgrade-refused', message: 'x' }, 426, 'invalid_request_error', 'upgrade_required'],
  [{ kind: 'request-timeout', message: 'x' }, 408, 'invalid_request_error', 'timeout'],
  [{ kind: 'too-large', message: 'x' }, 413, 'invalid_request_error', 'request_too_large'],
  [{ kind: 'unsupported-encoding', message: 'x' }, 415, 'invalid_request_error', 'unsupported_encoding'],
  [{ kind: 'rate-limited', message: 'x' }, 429, 'requests', 'rate_limit_exceeded'],
  [{ kind: 'budget-exceeded', message: 'x' }, 429, 'insufficient_quota', 'budget_exceeded'],
  [{ kind: 'unavailable', message: 'x' }, 503, 'server_error', 'service_unavailable'],
  [{ kind: 'misconfigured', message: 'x' }, 401, 'invalid_request_error', 'provider_misconfigured'],
  [{ kind: 'stage-failed', message: 'x' }, 500, 'server_error', 'transformer_failed'],
  [
    { kind: 'upstream-context', message: 'x', code: 'theirs', status: 413 },
    400,
    'invalid_request_error',
    'context_length_exceeded',
  ],
  [{ kind: 'upstream-invalid', message: 'x', status: 399 }, 400, 'invalid_request_error', null],
  [{ kind: 'upstream-invalid', message: 'x', status: 422 }, 422, 'invalid_request_error', null],
  [{ kind: 'upstream-auth', message: 'x', status: 403 }, 401, 'invalid_request_error', 'invalid_api_key'],
  [{ kind: 'upstream-billing', message: 'x' }, 429, 'insufficient_quota', 'insufficient_quota'],
  [{ kind: 'upstream-billing', message: 'x', status: 400 }, 400, 'insufficient_quota', 'insufficient_quota'],
  [{ kind: 'upstream-forbidden', message: 'x' }, 403, 'invalid_request_error', null],
  [{ kind: 'upstream-forbidden', message: 'x', status: 451 }, 451, 'invalid_request_error', null],
  [{ kind: 'upstream-not-found', message: 'x', status: 400 }, 404, 'invalid_request_error', 'model_not_found'],
  [{ kind: 'upstream-too-large', message: 'x', status: 400 }, 413, 'invalid_request_error', 'request_too_large'],
  [{ kind: 'upstream-rate-limit', message: 'x' }, 429, 'requests', 'rate_limit_exceeded'],
  [{ kind: 'upstream-rate-limit', message: 'x', status: 503 }, 503, 'requests', 'rate_limit_exceeded'],
  [{ kind: 'upstream-overloaded', message: 'x', status: 529 }, 503, 'server_error', 'service_unavailable'],
  [{ kind: 'upstream-error', message: 'x', status: 500 }, 500, 'server_error', 'server_error'],
  [{ kind: 'upstream-error', message: 'x', status: 529 }, 503, 'server_error', 'server_error'],
  [{ kind: 'upstream-error', message: 'x', status: 599 }, 599, 'server_error', 'server_error'],
  [{ kind: 'upstream-error', message: 'x', status: 600 }, 502, 'server_error', 'server_error'],
  [{ kind: 'upstream-error', message: 'x', status: 302 }, 502, 'server_error', 'server_error'],
  [{ kind: 'upstream-error', message: 'x', code: 'theirs' }, 502, 'server_error', 'theirs'],
  [{ kind: 'upstream-unreachable', message: 'x' }, 502, 'server_error', 'server_error'],
  [{ kind: 'upstream-cut', message: 'x' }, 502, 'server_error', 'server_error'],
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

const relayed = (number: string) => {
  const last = `: hi\n\nevent: response.output_text.delta\ndata: {"type":"response.output_text.delta",${number}"delta":"\\"sequence_number\\":9"}\n\n`;
  return { first: created, last, numbered: last };
};
const created =
  ': hi\n\nevent: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_own","created_at":7,"status":"in_progress","model":"own","output":[],"error":null,"tools":[]}}\n\n';

test('a relayed stream that breaks off ends in an error event and response.failed', (t) => {
  const records = responsesClient.encodeBreak({ kind: 'upstream-cut', message: 'm' }, 'r1');
  t.deepEqual(
    records.map(({ event }) => event),
    ['error', 'response.failed'],
  );
  t.deepEqual(parseJson(records[0]?.data ?? ''), {
    type: 'error',
    sequence_number: 0,
    error: { message: 'm', type: 'server_error', param: null, code: 'server_error' },
  });
  t.like(parseJson(records[1]?.data ?? ''), {
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'server_error', message: 'm' } },
  });
  t.deepEqual(records.map(responsesClient.ends.read), ['finish', 'end']);
});

test('the end of a relayed stream keeps its id, model, time and numbers', (t) => {
  const records = responsesClient.encodeBreak(
    { kind: 'upstream-cut', message: 'm' },
    'r1',
    relayed('"sequence_number":41,'),
  );
  const [error, failed] = records.map(({ data }) => parseJson(data));
  t.like(error, { sequence_number: 42 });
  t.like(failed, {
    sequence_number: 43,
    response: { id: 'resp_own', created_at: 7, model: 'own', status: 'failed', output: [], tools: [] },
  });
});

test('a repeated response.in_progress keeps the last number of a relayed stream', (t) => {
  const again = (number: string) => parseJson(responsesClient.encodeProgress?.(relayed(number))?.data ?? '');
  t.like(again('"sequence_number":41,'), {
    type: 'response.in_progress',
    sequence_number: 41,
    response: { id: 'resp_own', status: 'in_progress' },
  });
  t.like(again(''), { sequence_number: 0 });
  t.is(responsesClient.encodeProgress?.({ first: 'data: {"ty', last: '', numbered: '' }), undefined);
});

test('a fault whose code is empty gets the code of its kind', (t) => {
  const records = responsesClient.encodeBreak({ kind: 'upstream-cut', message: 'm', code: '' }, 'r1');
  const [raised, failed] = records.map(({ data }) => parseJson(data));
  t.like(raised, { error: { code: 'server_error' } });
  t.like(failed, { response: { error: { code: 'server_error' } } });
});
