import { errorText, type Fault, type FaultKind, isContextOverflow } from '../../engine/model/fault.ts';
import { isJsonObject, type Json, parseJson } from '../../engine/model/json/json.ts';
import type { Headers } from '../../engine/model/protocol.ts';

/** Fault kinds by the `type` of an error. Source: Anthropic API reference, "Errors". */
const kindsByType = new Map<string, FaultKind>([
  ['invalid_request_error', 'upstream-invalid'],
  ['authentication_error', 'upstream-auth'],
  ['billing_error', 'upstream-billing'],
  ['permission_error', 'upstream-forbidden'],
  ['not_found_error', 'upstream-not-found'],
  ['request_too_large', 'upstream-too-large'],
  ['rate_limit_error', 'upstream-rate-limit'],
  ['overloaded_error', 'upstream-overloaded'],
  ['timeout_error', 'upstream-timeout'],
  ['api_error', 'upstream-error'],
]);

const kindsByStatus = new Map<number, FaultKind>([
  [401, 'upstream-auth'],
  [402, 'upstream-billing'],
  [403, 'upstream-forbidden'],
  [404, 'upstream-not-found'],
  [408, 'upstream-timeout'],
  [413, 'upstream-too-large'],
  [429, 'upstream-rate-limit'],
  [503, 'upstream-overloaded'],
  [504, 'upstream-timeout'],
  [529, 'upstream-overloaded'],
]);

/** Decodes an error response. The body may be anything: JSON, HTML, empty. */
export const decodeFault = (status: number, headers: Headers, body: string): Fault => {
  const parsed = parseJson(body);
  const fault = decodeReportedFault(isJsonObject(parsed) ? (parsed.error ?? parsed) : (parsed ?? body), status);
  const kept = Object.entries(headers).filter(([name]) => isRetryHeader(name));
  return kept.length > 0 ? { ...fault, headers: Object.fromEntries(kept) } : fault;
};

/**
 * The `error` member of a body or `error` event → fault. `status` is the response's, if the whole response failed.
 */
export const decodeReportedFault = (error: Json | undefined, status?: number): Fault => {
  const type = isJsonObject(error) && typeof error.type === 'string' ? errorText(error.type) : undefined;
  const reported = plainMessage(isJsonObject(error) ? error.message : error);
  const kind = faultKind(type, status, reported ?? '');
  if (kind === 'upstream-auth')
    return { kind, message: "The provider refused the gateway's credentials.", code: type, status };
  const fallback =
    status === undefined ? 'The upstream reported an error.' : `The upstream answered with status ${status}.`;
  return { kind, message: reported ?? fallback, code: type, status };
};

const faultKind = (type: string | undefined, status: number | undefined, message: string): FaultKind => {
  if (status === 401) return 'upstream-auth';
  const kind =
    (type === undefined ? undefined : kindsByType.get(type)) ??
    (status === undefined ? 'upstream-error' : kindOfStatus(status));
  if (kind !== 'upstream-invalid' && kind !== 'upstream-too-large') return kind;
  if (isContextOverflow(message)) return 'upstream-context';
  return /credit balance is too low/i.test(message) ? 'upstream-billing' : kind;
};

const kindOfStatus = (status: number): FaultKind =>
  kindsByStatus.get(status) ?? (status >= 400 && status < 500 ? 'upstream-invalid' : 'upstream-error');

/** A message fit for users, without markup or stack traces; `undefined` when there is none. */
const plainMessage = (text: Json | undefined): string | undefined => {
  if (typeof text !== 'string') return undefined;
  const whole = errorText(text).trim();
  if (whole.startsWith('<')) return undefined;
  const message = whole.split(/\n[^\S\n]*(?:at |Traceback |File ")/, 1)[0]?.trimEnd() ?? '';
  return message === '' || message.startsWith('Traceback ') ? undefined : message;
};

/** Whether a header controls the client's retries. */
const isRetryHeader = (name: string): boolean =>
  name === 'retry-after' ||
  name === 'retry-after-ms' ||
  name === 'x-should-retry' ||
  name.startsWith('anthropic-ratelimit-') ||
  name.startsWith('x-ratelimit-');
