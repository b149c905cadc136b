import type { Fault, FaultKind } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { WireFault } from '../../engine/model/protocol.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';

/** A fault's representation in this format. */
interface Wording {
  /** The HTTP status, unless the upstream's own is kept. */
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  /** Keeps the upstream's own status. */
  readonly keeps?: true;
}

/** The representation of each fault. Source: OpenAI API reference, "Error codes". */
const wire = {
  'invalid-request': { status: 400, type: 'invalid_request_error', code: null },
  unsupported: { status: 400, type: 'invalid_request_error', code: 'unsupported_parameter' },
  'no-route': { status: 400, type: 'invalid_request_error', code: 'model_not_found' },
  unauthorized: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  forbidden: { status: 403, type: 'invalid_request_error', code: 'forbidden' },
  'not-found': { status: 404, type: 'invalid_request_error', code: 'not_found' },
  'read-only': { status: 409, type: 'invalid_request_error', code: 'read_only' },
  'method-not-allowed': { status: 405, type: 'invalid_request_error', code: 'method_not_allowed' },
  'upgrade-refused': { status: 426, type: 'invalid_request_error', code: 'upgrade_required' },
  'request-timeout': { status: 408, type: 'invalid_request_error', code: 'request_timeout' },
  'too-large': { status: 413, type: 'invalid_request_error', code: 'request_too_large' },
  'unsupported-encoding': { status: 415, type: 'invalid_request_error', code: 'unsupported_encoding' },
  'rate-limited': { status: 429, type: 'rate_limit_exceeded', code: 'rate_limit_exceeded' },
  'budget-exceeded': { status: 429, type: 'insufficient_quota', code: 'budget_exceeded' },
  unavailable: { status: 503, type: 'server_error', code: 'service_unavailable' },
  misconfigured: { status: 401, type: 'invalid_request_error', code: 'provider_misconfigured' },
  'stage-failed': { status: 500, type: 'server_error', code: 'transformer_failed' },
  'upstream-invalid': { status: 400, type: 'invalid_request_error', code: null, keeps: true },
  'upstream-context': { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' },
  // Some vendors use 400.
  'upstream-auth': { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  'upstream-billing': { status: 402, type: 'insufficient_quota', code: 'insufficient_quota', keeps: true },
  'upstream-forbidden': { status: 403, type: 'invalid_request_error', code: 'permission_denied', keeps: true },
  'upstream-not-found': { status: 404, type: 'invalid_request_error', code: 'model_not_found', keeps: true },
  'upstream-too-large': { status: 413, type: 'invalid_request_error', code: 'request_too_large', keeps: true },
  'upstream-rate-limit': { status: 429, type: 'rate_limit_exceeded', code: 'rate_limit_exceeded', keeps: true },
  'upstream-overloaded': { status: 503, type: 'server_error', code: 'service_unavailable', keeps: true },
  'upstream-error': { status: 502, type: 'server_error', code: 'server_error', keeps: true },
  'upstream-unreachable': { status: 502, type: 'server_error', code: 'upstream_unreachable' },
  'upstream-garbled': { status: 502, type: 'server_error', code: 'upstream_garbled' },
  'upstream-cut': { status: 502, type: 'server_error', code: 'upstream_cut' },
  'upstream-timeout': { status: 504, type: 'server_error', code: 'timeout', keeps: true },
  internal: { status: 500, type: 'server_error', code: 'internal_error' },
} as const satisfies Record<FaultKind, Wording>;

/** Codes that clients act on: an upstream's own code doesn't replace them. */
const fixedCodes: ReadonlySet<FaultKind> = new Set<FaultKind>(['unauthorized', 'upstream-context', 'upstream-billing']);

/** Fault → status and `{"error": {…}}`. */
export const encodeFault = (fault: Fault): WireFault => {
  const wording: Wording = wire[fault.kind];
  return { status: statusOf(fault, wording), body: faultBody(fault) };
};

/** Fault → the error record that ends a stream. `[DONE]` never follows it. */
export const faultRecord = (fault: Fault): SseRecord => ({ event: '', data: JSON.stringify(faultBody(fault)) });

/** As `faultRecord`, for a relayed stream, which may be cut anywhere. */
export const encodeBreak = (fault: Fault): readonly SseRecord[] => [faultRecord(fault)];

const faultBody = (fault: Fault): JsonObject => {
  const { type, code }: Wording = wire[fault.kind];
  return {
    error: {
      message: fault.message,
      type,
      param: fault.param ?? null,
      code: fixedCodes.has(fault.kind) ? code : (fault.code ?? code),
    },
  };
};

const statusOf = ({ status }: Fault, wording: Wording): number => {
  if (!wording.keeps || status === undefined || status < 400 || status > 599) return wording.status;
  // A vendor-specific status.
  return status === 529 ? 503 : status;
};
