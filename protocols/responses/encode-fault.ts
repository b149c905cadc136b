import type { Fault, FaultKind } from '../../engine/model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../engine/model/json/json.ts';
import type { RelayedRecords, WireFault } from '../../engine/model/protocol.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';

interface Wording {
  readonly status: number;
  readonly type: 'invalid_request_error' | 'requests' | 'insufficient_quota' | 'server_error';
  readonly code: string | null;
  /** Keeps the upstream's own failure status. */
  readonly keepsStatus?: true;
}

const invalid = 'invalid_request_error';
const server = 'server_error';

/** The representation of each fault. Source: OpenAI API reference, "Error codes". */
const wire = {
  'invalid-request': { status: 400, type: invalid, code: null },
  unsupported: { status: 400, type: invalid, code: 'unsupported_parameter' },
  'no-route': { status: 400, type: invalid, code: 'model_not_found' },
  unauthorized: { status: 401, type: invalid, code: 'invalid_api_key' },
  forbidden: { status: 403, type: invalid, code: 'forbidden' },
  'not-found': { status: 404, type: invalid, code: 'unknown_url' },
  'read-only': { status: 409, type: invalid, code: 'read_only' },
  'method-not-allowed': { status: 405, type: invalid, code: 'method_not_supported' },
  'upgrade-refused': { status: 426, type: invalid, code: 'upgrade_required' },
  'request-timeout': { status: 408, type: invalid, code: 'timeout' },
  'too-large': { status: 413, type: invalid, code: 'request_too_large' },
  'unsupported-encoding': { status: 415, type: invalid, code: 'unsupported_encoding' },
  'rate-limited': { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  'budget-exceeded': { status: 429, type: 'insufficient_quota', code: 'budget_exceeded' },
  unavailable: { status: 503, type: server, code: 'service_unavailable' },
  misconfigured: { status: 401, type: invalid, code: 'provider_misconfigured' },
  'stage-failed': { status: 500, type: server, code: 'transformer_failed' },
  'upstream-invalid': { status: 400, type: invalid, code: null, keepsStatus: true },
  'upstream-context': { status: 400, type: invalid, code: 'context_length_exceeded' },
  'upstream-auth': { status: 401, type: invalid, code: 'invalid_api_key' },
  'upstream-billing': { status: 429, type: 'insufficient_quota', code: 'insufficient_quota', keepsStatus: true },
  'upstream-forbidden': { status: 403, type: invalid, code: null, keepsStatus: true },
  'upstream-not-found': { status: 404, type: invalid, code: 'model_not_found' },
  'upstream-too-large': { status: 413, type: invalid, code: 'request_too_large' },
  'upstream-rate-limit': { status: 429, type: 'requests', code: 'rate_limit_exceeded', keepsStatus: true },
  'upstream-overloaded': { status: 503, type: server, code: 'service_unavailable' },
  'upstream-error': { status: 502, type: server, code: 'server_error', keepsStatus: true },
  'upstream-unreachable': { status: 502, type: server, code: 'server_error' },
  'upstream-garbled': { status: 502, type: server, code: 'server_error' },
  'upstream-cut': { status: 502, type: server, code: 'server_error' },
  'upstream-timeout': { status: 504, type: server, code: 'timeout' },
  internal: { status: 500, type: server, code: 'server_error' },
} as const satisfies Record<FaultKind, Wording>;

/** Encodes a fault before the reply's start. */
export const encodeFault = (fault: Fault): WireFault => ({
  status: statusOf(fault),
  body: { error: wireError(fault) },
});

/** The `error` member of a body or `error` event. */
export const wireError = (fault: Fault): JsonObject => {
  const { type }: Wording = wire[fault.kind];
  return { message: fault.message, type, param: fault.param ?? null, code: codeOf(fault) };
};

/** Clients act on these codes, so an upstream's own code doesn't replace them; nor does an empty one replace any. */
const fixedCodes: ReadonlySet<FaultKind> = new Set<FaultKind>(['upstream-context']);

const codeOf = ({ kind, code }: Fault): string | null => {
  const { code: usual }: Wording = wire[kind];
  return fixedCodes.has(kind) ? usual : code || usual;
};

const statusOf = ({ kind, status }: Fault): number => {
  const { status: usual, keepsStatus }: Wording = wire[kind];
  if (!keepsStatus || status === undefined || status < 400 || status > 599) return usual;
  return status === overloaded ? 503 : status;
};

/** A vendor-specific status that clients of this protocol don't know. */
const overloaded = 529;

/** The `error` member of a failed response. */
export const failure = (fault: Fault): { readonly code: string; readonly message: string } => {
  return { code: codeOf(fault) ?? 'invalid_prompt', message: fault.message };
};

/**
 * The `error` event and `response.failed` that end a broken-off relayed stream. Both keep the
 * reply's id, model and numbering, which clients require to be constant; items aren't repeated.
 */
export const encodeBreak = (fault: Fault, requestId: string, relayed?: RelayedRecords): readonly SseRecord[] => {
  const number = relayed ? lastNumber(relayed) + 1 : 0;
  const response = {
    ...(responseIn(relayed) ?? unknownResponse(requestId)),
    status: 'failed',
    error: failure(fault),
  };
  // The vendor's own error may stand there already.
  if (relayed && lastType(relayed) === 'error') return [record('response.failed', number, { response })];
  return [record('error', number, { error: wireError(fault) }), record('response.failed', number + 1, { response })];
};

/** The type of the last event. */
const lastType = ({ last }: RelayedRecords): unknown => {
  const line = last.split(/\r\n|\n|\r/).findLast((one) => one.startsWith('data:'));
  const event = line === undefined ? undefined : parseJson(line.slice(5));
  return isJsonObject(event) ? event.type : undefined;
};

/**
 * Repeats `response.in_progress` as a keep-alive of a relayed stream. It repeats the last sequence number, so
 * that the upstream's later numbers stay unchanged.
 */
export const encodeProgress = (relayed: RelayedRecords): SseRecord | undefined => {
  const response = responseIn(relayed);
  return response && record('response.in_progress', Math.max(0, lastNumber(relayed)), { response });
};

const record = (type: string, number: number, more: object): SseRecord => ({
  event: type,
  data: JSON.stringify({ type, sequence_number: number, ...more }),
});

/** The response object of the first event. */
const responseIn = (relayed: RelayedRecords | undefined): JsonObject | undefined => {
  for (const line of relayed?.first.split(/\r\n|\n|\r/) ?? []) {
    const event = line.startsWith('data:') ? parseJson(line.slice(5)) : undefined;
    if (isJsonObject(event) && isJsonObject(event.response)) return event.response;
  }
  return undefined;
};

const unknownResponse = (requestId: string): JsonObject => ({
  id: `resp_${requestId}`,
  object: 'response',
  created_at: 0,
  incomplete_details: null,
  model: '',
  output: [],
  usage: null,
});

/** The last sequence number; -1 if the upstream sends none. */
const lastNumber = ({ numbered }: RelayedRecords): number => {
  let number = -1;
  for (const [, digits] of numbered.matchAll(/[{,]\s{0,9}"sequence_number"\s{0,9}:\s{0,9}(\d{1,15})/g))
    number = Number(digits);
  return number;
};
