import type { Fault, FaultKind } from '../../engine/model/fault.ts';
import type { Headers } from '../../engine/model/protocol.ts';
import { isContextOverflow } from '../../engine/model/upstream-error/context-overflow.ts';
import { kindOfStatus } from '../../engine/model/upstream-error/kind-of-status.ts';
import { kindOfWords } from '../../engine/model/upstream-error/kind-of-words.ts';
import { type ErrorReport, readError, readErrorBody } from '../../engine/model/upstream-error/read-error.ts';

/** Decodes an error response. The body may be anything: JSON of many shapes, HTML, empty. */
export const decodeFault = (status: number, headers: Headers, body: string): Fault => {
  const error = readErrorBody(body);
  const kind = kindOf(status, error);
  const kept = retryHeaders(headers);
  if (kind === 'upstream-auth') return { kind, message: refusedKey, status };
  return {
    kind,
    message: error.message || `The upstream answered with status ${status}.`,
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
    message: error.message || 'The upstream reported an error.',
    ...(error.param !== undefined && { param: error.param }),
    ...(error.code !== undefined && { code: error.code }),
  };
};

const refusedKey = "The upstream refused the provider's credentials.";

const kindOf = (status: number | undefined, error: ErrorReport): FaultKind => {
  const { type = '', code = '' } = error;
  const sign = `${code} ${type}`;
  if (isContextOverflow(error, status ?? error.status)) return 'upstream-context';
  if (/invalid_api_key|authentication/.test(sign)) return 'upstream-auth';
  if (/insufficient_quota|billing/.test(sign)) return 'upstream-billing';
  return status === undefined ? bySign(sign, error) : kindOfStatus(status);
};

const bySign = (sign: string, error: ErrorReport): FaultKind => {
  if (/rate_limit/.test(sign)) return 'upstream-rate-limit';
  if (/overloaded|service_unavailable|slow_down/.test(sign)) return 'upstream-overloaded';
  if (/invalid_prompt|invalid_request|invalid_image|policy/.test(sign)) return 'upstream-invalid';
  return kindOfWords(error);
};

const retryHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => name.startsWith('retry-after') || name.startsWith('x-ratelimit-') || name === 'x-should-retry',
    ),
  );
