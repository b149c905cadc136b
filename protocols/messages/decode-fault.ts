import type { Fault, FaultKind } from '../../engine/model/fault.ts';
import type { Headers } from '../../engine/model/protocol.ts';
import { isContextOverflow } from '../../engine/model/upstream-error/context-overflow.ts';
import { kindOfStatus } from '../../engine/model/upstream-error/kind-of-status.ts';
import { kindOfWords } from '../../engine/model/upstream-error/kind-of-words.ts';
import { type ErrorReport, readError, readErrorBody } from '../../engine/model/upstream-error/read-error.ts';

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

/** Decodes an error response. The body may be anything: JSON, HTML, empty. */
export const decodeFault = (status: number, headers: Headers, body: string): Fault => {
  const fault = faultOfReport(readErrorBody(body), status);
  const kept = Object.entries(headers).filter(([name]) => isRetryHeader(name));
  return kept.length > 0 ? { ...fault, headers: Object.fromEntries(kept) } : fault;
};

/** The error in a reply or an `error` event → fault. */
export const decodeReportedFault = (error: unknown): Fault => faultOfReport(readError(error), undefined);

const faultOfReport = (report: ErrorReport, status: number | undefined): Fault => {
  const { type } = report;
  const kind = kindOf(report, status);
  if (kind === 'upstream-auth')
    return { kind, message: "The provider refused the gateway's credentials.", code: type, status };
  const plain =
    status === undefined ? 'The upstream reported an error.' : `The upstream answered with status ${status}.`;
  return { kind, message: report.message || plain, code: type, status };
};

const kindOf = (report: ErrorReport, status: number | undefined): FaultKind => {
  if (status === 401) return 'upstream-auth';
  const byType = report.type === undefined ? undefined : kindsByType.get(report.type);
  const kind = byType ?? (status === undefined ? kindOfWords(report) : kindOfStatus(status));
  if (!mayOverflow.has(kind)) return kind;
  if (isContextOverflow(report, status ?? report.status)) return 'upstream-context';
  return /credit balance is too low/i.test(report.message) ? 'upstream-billing' : kind;
};

/** Marks of an overflow by its type or status alone. */
const mayOverflow: ReadonlySet<FaultKind> = new Set(['upstream-invalid', 'upstream-too-large', 'upstream-error']);

/** Whether a header controls the client's retries. */
const isRetryHeader = (name: string): boolean =>
  name === 'retry-after' ||
  name === 'retry-after-ms' ||
  name === 'x-should-retry' ||
  name.startsWith('anthropic-ratelimit-') ||
  name.startsWith('x-ratelimit-');
