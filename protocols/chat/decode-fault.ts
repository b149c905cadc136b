import { errorText, type Fault, type FaultKind, isContextOverflow } from '../../engine/model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../engine/model/json/json.ts';
import type { Headers } from '../../engine/model/protocol.ts';

/** The members of an error body, in any of its forms. */
interface Report {
  readonly message: string;
  readonly words: readonly string[];
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly status: number | undefined;
}

/**
 * Decodes an error response. Keeps the status and the retry headers; a body that isn't JSON isn't shown. Source:
 * OpenAI API reference, "Error codes"; recordings of compatible servers.
 */
export const decodeFault = (status: number, headers: Headers, body: string): Fault => {
  const parsed = parseJson(body.trim());
  const first = Array.isArray(parsed) ? parsed[0] : parsed;
  const report = readReport(isJsonObject(first) ? (first.error ?? first) : undefined);
  const kept = Object.entries(headers).filter(([name]) => retryHeader.test(name));
  return { ...faultOfReport(report, status), status, ...(kept.length > 0 && { headers: Object.fromEntries(kept) }) };
};

/** An error reported inside a reply → fault. Uses the error's own status if it has one. */
export const decodeReportedFault = (error: unknown): Fault => {
  const report = readReport(error);
  return { ...faultOfReport(report, report.status), status: report.status };
};

const retryHeader = /^(retry-after(-ms)?|x-should-retry|x-ratelimit-.+)$/;

const readReport = (error: unknown): Report => {
  if (typeof error === 'string')
    return { message: errorText(error), words: [], code: undefined, param: undefined, status: undefined };
  const body: JsonObject = isJsonObject(error) ? error : {};
  const metadata = isJsonObject(body.metadata) ? body.metadata : {};
  const words = [body.code, body.type, body.status, metadata.error_type]
    .filter((word) => typeof word === 'string')
    .filter((word) => word !== '')
    .map(errorText);
  const status = [body.status_code, body.code, body.status].find((value) => typeof value === 'number');
  const text = [body.message, body.detail, metadata.raw].filter((value) => typeof value === 'string' && value !== '');
  return {
    message: errorText(text.join(': ')),
    words,
    code: words[0],
    param: typeof body.param === 'string' && body.param !== '' ? errorText(body.param) : undefined,
    status: status !== undefined && status >= 400 && status <= 599 ? status : undefined,
  };
};

const faultOfReport = (report: Report, status: number | undefined): Fault => {
  const kind = kindOf(report, status);
  const { code, param } = report;
  // Vendors repeat parts of the key in this message.
  if (kind === 'upstream-auth')
    return { kind, message: 'The upstream refused the credentials of this provider.', code };
  const plain =
    status === undefined ? 'The upstream reported an error.' : `The upstream answered with status ${status}.`;
  return { kind, message: shown(report.message) || plain, code, param };
};

/** The upstream's message, with everything that looks like a key masked. */
const shown = (message: string): string =>
  message.replace(/\b(?:sk|pk|gsk|xai)[-_][\w*-]{8,}|\bAIza[\w-]{20,}|\bBearer\s+\S+/g, '***').trim();

const kindOf = ({ message, words }: Report, status: number | undefined): FaultKind => {
  const says = (...candidates: readonly string[]) => words.some((word) => candidates.includes(word));
  const refused = status === undefined || (status >= 400 && status < 500);
  if (says('insufficient_quota', 'payment_required', 'billing_error') || status === 402) return 'upstream-billing';
  if (refused && status !== 401 && status !== 429 && (says('context_length_exceeded') || isContextOverflow(message))) {
    return 'upstream-context';
  }
  if (status === 401 || says('invalid_api_key', 'authentication_error', 'authentication', 'API_KEY_INVALID')) {
    return 'upstream-auth';
  }
  if (status === 429 || says('rate_limit_exceeded', 'rate_limit_error')) return 'upstream-rate-limit';
  if (status === undefined) return kindOfWords(says);
  return kindByStatus[status] ?? (status < 500 ? 'upstream-invalid' : 'upstream-error');
};

const kindByStatus: Readonly<Record<number, FaultKind>> = {
  403: 'upstream-forbidden',
  404: 'upstream-not-found',
  408: 'upstream-timeout',
  413: 'upstream-too-large',
  498: 'upstream-overloaded',
  503: 'upstream-overloaded',
  504: 'upstream-timeout',
  524: 'upstream-timeout',
  529: 'upstream-overloaded',
};

const kindOfWords = (says: (...candidates: readonly string[]) => boolean): FaultKind => {
  if (says('overloaded_error', 'provider_overloaded', 'service_unavailable', 'engine_overloaded')) {
    return 'upstream-overloaded';
  }
  if (says('model_not_found', 'not_found')) return 'upstream-not-found';
  return says('invalid_request_error', 'invalid_request', 'invalid_prompt') ? 'upstream-invalid' : 'upstream-error';
};
