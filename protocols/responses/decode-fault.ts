import { errorText, type Fault, type FaultKind, isContextOverflow } from '../../engine/model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../engine/model/json/json.ts';
import type { Headers } from '../../engine/model/protocol.ts';

/** Decodes an error response. The body may be anything: JSON of many shapes, HTML, empty. */
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

/** An error reported inside a reply → fault. */
export const decodeReportedFault = (value: unknown): Fault => {
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

/** Reads the nested form, the flat one of an `error` event, a plain string, or the first item of a list. */
const readError = (value: unknown): ReportedError => {
  if (Array.isArray(value)) return readError(value[0]);
  const outer: JsonObject = isJsonObject(value) ? value : typeof value === 'string' ? { error: value } : {};
  const inner = isJsonObject(outer.error) ? outer.error : outer;
  const message = typeof outer.error === 'string' ? text(outer.error) : (text(inner.message) ?? text(inner.detail));
  const type = text(inner.type);
  return { message, type: type === 'error' ? undefined : type, code: text(inner.code), param: text(inner.param) };
};

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? errorText(value) : typeof value === 'number' ? String(value) : undefined;

const kindOf = (status: number | undefined, { message = '', type = '', code = '' }: ReportedError): FaultKind => {
  const sign = `${code} ${type}`;
  const refused = status === undefined || (status >= 400 && status < 500 && status !== 401 && status !== 429);
  if (refused && isContextOverflow(`${sign} ${message}`)) return 'upstream-context';
  if (/invalid_api_key|authentication/.test(sign)) return 'upstream-auth';
  if (/insufficient_quota|billing/.test(sign)) return 'upstream-billing';
  return (status === undefined ? undefined : byStatus(status)) ?? bySign(sign);
};

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
