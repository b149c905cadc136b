import type { Fault, FaultKind } from '../../engine/model/fault.ts';
import type { Headers } from '../../engine/model/protocol.ts';
import { isContextOverflow } from '../../engine/model/upstream-error/context-overflow.ts';
import { kindOfStatus } from '../../engine/model/upstream-error/kind-of-status.ts';
import { kindOfWords } from '../../engine/model/upstream-error/kind-of-words.ts';
import { type ErrorReport, isStatus, readError, readErrorBody } from '../../engine/model/upstream-error/read-error.ts';

/**
 * Decodes an error response. Keeps the status and the retry headers. Source: OpenAI API reference, "Error codes"; recordings of
 * compatible servers.
 */
export const decodeFault = (status: number, headers: Headers, body: string): Fault => {
  const kept = Object.entries(headers).filter(([name]) => retryHeader.test(name));
  const fault = faultOfReport(readErrorBody(body), status);
  return { ...fault, status, ...(kept.length > 0 && { headers: Object.fromEntries(kept) }) };
};

/** An error reported inside a reply → fault. Uses the error's own status if it has one. */
export const decodeReportedFault = (error: unknown): Fault => {
  const report = readError(error);
  return { ...faultOfReport(report, report.status), status: report.status };
};

const retryHeader = /^(retry-after(-ms)?|x-should-retry|x-ratelimit-.+)$/;

const faultOfReport = (report: ErrorReport, status: number | undefined): Fault => {
  const kind = kindOf(report, status);
  const { param } = report;
  const code = report.words.find((word) => !isStatus(Number(word)));
  // Vendors repeat parts of the key in this message.
  if (kind === 'upstream-auth')
    return { kind, message: 'The upstream refused the credentials of this provider.', code };
  const plain =
    status === undefined ? 'The upstream reported an error.' : `The upstream answered with status ${status}.`;
  return { kind, message: report.message || plain, code, param };
};

const kindOf = (report: ErrorReport, status: number | undefined): FaultKind => {
  const says = (...candidates: readonly string[]) => report.words.some((word) => candidates.includes(word));
  if (says('insufficient_quota', 'payment_required', 'billing_error') || status === 402) return 'upstream-billing';
  if (isContextOverflow(report, status)) return 'upstream-context';
  if (status === 401 || says('invalid_api_key', 'authentication_error', 'authentication', 'API_KEY_INVALID')) {
    return 'upstream-auth';
  }
  if (status === 429 || says('rate_limit_exceeded', 'rate_limit_error')) return 'upstream-rate-limit';
  if (status === undefined) return kindOfWords(report);
  return kindOfStatus(status);
};
