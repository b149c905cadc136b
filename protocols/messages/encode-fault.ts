import type { Fault, FaultKind } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { WireFault } from '../../engine/model/protocol.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';

/** The representation of each fault. Source: Anthropic API reference, "Errors". */
const wire = {
  'invalid-request': { status: 400, type: 'invalid_request_error' },
  unsupported: { status: 400, type: 'invalid_request_error' },
  'no-route': { status: 400, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  forbidden: { status: 403, type: 'permission_error' },
  'not-found': { status: 404, type: 'not_found_error' },
  'read-only': { status: 409, type: 'invalid_request_error' },
  'method-not-allowed': { status: 405, type: 'invalid_request_error' },
  'upgrade-refused': { status: 426, type: 'invalid_request_error' },
  'request-timeout': { status: 408, type: 'timeout_error' },
  'too-large': { status: 413, type: 'request_too_large' },
  'unsupported-encoding': { status: 415, type: 'invalid_request_error' },
  'rate-limited': { status: 429, type: 'rate_limit_error' },
  'budget-exceeded': { status: 429, type: 'rate_limit_error' },
  unavailable: { status: 503, type: 'overloaded_error' },
  misconfigured: { status: 401, type: 'authentication_error' },
  'stage-failed': { status: 500, type: 'api_error' },
  'upstream-invalid': { status: 400, type: 'invalid_request_error' },
  'upstream-context': { status: 400, type: 'invalid_request_error' },
  'upstream-auth': { status: 401, type: 'authentication_error' },
  'upstream-billing': { status: 402, type: 'billing_error' },
  'upstream-forbidden': { status: 403, type: 'permission_error' },
  'upstream-not-found': { status: 404, type: 'not_found_error' },
  'upstream-too-large': { status: 413, type: 'request_too_large' },
  'upstream-rate-limit': { status: 429, type: 'rate_limit_error' },
  'upstream-overloaded': { status: 529, type: 'overloaded_error' },
  'upstream-error': { status: 502, type: 'api_error' },
  'upstream-unreachable': { status: 502, type: 'api_error' },
  'upstream-garbled': { status: 502, type: 'api_error' },
  'upstream-cut': { status: 502, type: 'api_error' },
  'upstream-timeout': { status: 504, type: 'timeout_error' },
  internal: { status: 500, type: 'api_error' },
} as const satisfies Record<FaultKind, { readonly status: number; readonly type: string }>;

/** The `error` member of an error body or `error` event. */
const encodeError = (fault: Fault): JsonObject => ({
  type: wire[fault.kind].type,
  message: wording(fault),
  ...(codedKinds.has(fault.kind) && fault.code !== undefined && { code: fault.code }),
});

/** Faults whose code says what the type doesn't. The vendor's errors have none. */
const codedKinds: ReadonlySet<FaultKind> = new Set<FaultKind>(['forbidden', 'rate-limited', 'budget-exceeded']);

/** Encodes a fault as an error response. Keeps the upstream's failure status, except for its own credentials. */
export const encodeFault = (fault: Fault, requestId: string): WireFault => ({
  status: keepsStatus(fault) ? fault.status : wire[fault.kind].status,
  body: { type: 'error', error: encodeError(fault), request_id: requestId },
});

/** The `error` event, which ends a stream. */
export const errorEvent = (fault: Fault, requestId?: string): SseRecord => ({
  event: 'error',
  data: JSON.stringify({ type: 'error', error: encodeError(fault), request_id: requestId }),
});

const keepsStatus = (fault: Fault): fault is Fault & { readonly status: number } =>
  fault.kind.startsWith('upstream-') &&
  fault.kind !== 'upstream-auth' &&
  fault.status !== undefined &&
  fault.status >= 400 &&
  fault.status < 600;

const wording = (fault: Fault): string => {
  // Vendors quote the rejected key.
  if (fault.kind === 'upstream-auth') {
    const { provider = '', model = 'it' } = fault.from ?? {};
    return `The provider ${provider && `${provider} `}refused the gateway's credentials for ${model}.`;
  }
  // Clients compact the conversation on this message; on the vendor's other ones they request less output.
  const isClear = fault.message.startsWith('prompt is too long') || fault.message.includes('exceed context limit');
  if (fault.kind === 'upstream-context' && !isClear) {
    return `prompt is too long: ${fault.message}`;
  }
  return fault.message;
};
