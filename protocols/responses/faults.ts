import type { Fault, FaultKind } from '../../engine/model/fault.ts';
import { isJsonObject, parseJson } from '../../engine/model/json.ts';
import type { Headers, WireFault } from '../../engine/model/protocol.ts';

interface Words {
  readonly status: number;
  readonly type: 'invalid_request_error' | 'requests' | 'insufficient_quota' | 'server_error';
  readonly code: string | null;
  /** A failure status of the upstream reaches the client as it is. */
  readonly keepsStatus?: true;
}

const invalid = 'invalid_request_error';
const server = 'server_error';

/** How this protocol words a fault. Source: OpenAI API reference, "Error codes". */
const words = {
  'invalid-request': { status: 400, type: invalid, code: null },
  unsupported: { status: 400, type: invalid, code: 'unsupported_parameter' },
  'no-route': { status: 400, type: invalid, code: 'model_not_found' },
  unauthorized: { status: 401, type: invalid, code: 'invalid_api_key' },
  forbidden: { status: 403, type: invalid, code: 'forbidden' },
  'not-found': { status: 404, type: invalid, code: 'unknown_url' },
  'method-not-allowed': { status: 405, type: invalid, code: 'method_not_supported' },
  'request-timeout': { status: 408, type: invalid, code: 'timeout' },
  'too-large': { status: 413, type: invalid, code: 'request_too_large' },
  'unsupported-encoding': { status: 415, type: invalid, code: 'unsupported_encoding' },
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
} as const satisfies Record<FaultKind, Words>;

/** A fault before the answer has begun → status and body. */
export const encodeFault = (fault: Fault): WireFault => {
  const { type, code }: Words = words[fault.kind];
  return {
    status: statusOf(fault),
    body: { error: { message: fault.message, type, param: fault.param ?? null, code: fault.code ?? code } },
  };
};

const statusOf = ({ kind, status }: Fault): number => {
  const { status: usual, keepsStatus }: Words = words[kind];
  if (!keepsStatus || status === undefined || status < 400 || status > 599) return usual;
  return status === overloaded ? 503 : status;
};

/** One vendor's own status, which clients of this protocol don't know. */
const overloaded = 529;

/** The `error` of a failed response. */
export const failure = (fault: Fault): { readonly code: string; readonly message: string } => {
  const { code }: Words = words[fault.kind];
  return { code: fault.code || code || 'invalid_prompt', message: fault.message };
};

/** An answer with a failure status → fault. The body may be anything: JSON of many shapes, HTML, nothing. */
export const decodeFault = (status: number, headers: Headers, body: string): Fault => {
  const error = readError(parseJson(body));
  const kind = kindOf(status, error);
  const kept = retryHeaders(headers);
  if (kind === 'upstream-auth') return { kind, message: refusedKey, status };
  return {
    kind,
    message: error.message ?? `The upstream answered with status ${status}.`,
    status,
    ...(error.param !== undefined && { param: error.param }),
    ...(error.code !== undefined && { code: error.code }),
    ...(Object.keys(kept).length > 0 && { headers: kept }),
  };
};

/** An error told inside an answer → fault. */
export const faultInReply = (value: unknown): Fault => {
  const error = readError(value);
  const kind = kindOf(undefined, error);
  if (kind === 'upstream-auth') return { kind, message: refusedKey };
  return {
    kind,
    message: error.message ?? 'The upstream reported an error.',
    ...(error.param !== undefined && { param: error.param }),
    ...(error.code !== undefined && { code: error.code }),
  };
};

const refusedKey = "The upstream refused the provider's credentials.";

interface ReportedError {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

/** The nested form, the flat one of an `error` event, a bare text, or the first of a list. */
const readError = (value: unknown): ReportedError => {
  if (Array.isArray(value)) return readError(value[0]);
  const outer = isJsonObject(value) ? value : {};
  const inner = isJsonObject(outer.error) ? outer.error : outer;
  const message = typeof outer.error === 'string' ? text(outer.error) : (text(inner.message) ?? text(inner.detail));
  const type = text(inner.type);
  return { message, type: type === 'error' ? undefined : type, code: text(inner.code), param: text(inner.param) };
};

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

const kindOf = (status: number | undefined, { message = '', type = '', code = '' }: ReportedError): FaultKind => {
  const sign = `${code} ${type}`;
  if (/context_length_exceeded/.test(sign) || tooLong.test(message)) return 'upstream-context';
  if (/invalid_api_key|authentication/.test(sign)) return 'upstream-auth';
  if (/insufficient_quota|billing/.test(sign)) return 'upstream-billing';
  return (status === undefined ? undefined : byStatus(status)) ?? bySign(sign);
};

const tooLong = /maximum context length|exceeds? the context window|prompt is too long|input token count .* exceeds/i;

const byStatus = (status: number): FaultKind | undefined => {
  const kinds: Readonly<Record<number, FaultKind>> = {
    401: 'upstream-auth',
    402: 'upstream-billing',
    403: 'upstream-forbidden',
    404: 'upstream-not-found',
    408: 'upstream-timeout',
    413: 'upstream-too-large',
    429: 'upstream-rate-limit',
    503: 'upstream-overloaded',
    504: 'upstream-timeout',
    529: 'upstream-overloaded',
  };
  return kinds[status] ?? (status >= 400 && status < 500 ? 'upstream-invalid' : 'upstream-error');
};

const bySign = (sign: string): FaultKind => {
  if (/rate_limit/.test(sign)) return 'upstream-rate-limit';
  if (/overloaded|service_unavailable|slow_down/.test(sign)) return 'upstream-overloaded';
  if (/invalid_prompt|invalid_request|invalid_image|policy/.test(sign)) return 'upstream-invalid';
  return 'upstream-error';
};

const retryHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => name.startsWith('retry-after') || name.startsWith('x-ratelimit-') || name === 'x-should-retry',
    ),
  );
