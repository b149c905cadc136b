import type { Fault, FaultKind } from '../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../engine/model/json/json.ts';
import type { Headers } from '../../engine/model/protocol.ts';
import { isContextOverflow } from '../../engine/model/upstream-error/context-overflow.ts';
import { kindOfStatus } from '../../engine/model/upstream-error/kind-of-status.ts';
import { kindOfWords } from '../../engine/model/upstream-error/kind-of-words.ts';
import { type ErrorReport, isStatus, readError, readErrorBody } from '../../engine/model/upstream-error/read-error.ts';

/** Decodes an error response. The body may be an error, an error in an array, a text, a web page or empty. */
export const decodeFault = (status: number, headers: Headers, body: string): Fault => {
  const parsed = parseJson(body);
  const first: Json | undefined = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isJsonObject(first) && isJsonObject(first.error) ? first.error : {};
  const fault = faultOf(status, readErrorBody(body), error);
  const wait = headers['retry-after'];
  return wait === undefined || fault.headers ? fault : { ...fault, headers: { 'retry-after': wait } };
};

/** An `error` object inside a reply with a success status → fault. */
export const decodeReportedFault = (error: JsonObject): Fault => {
  const report = readError(error);
  const { status, ...fault } = faultOf(report.status ?? 500, report, error);
  if (report.status !== undefined) return { ...fault, status };
  return fault.kind === 'upstream-error' ? { ...fault, kind: kindOfWords(report) } : fault;
};

const faultOf = (status: number, report: ErrorReport, error: JsonObject): Fault => {
  const given = withoutKeys(report.message);
  const kind = kindOf(status, report, error);
  const seconds = retrySeconds(error);
  return {
    kind,
    message: messageOf(kind, status, given),
    code: report.words.find((word) => !isStatus(Number(word))),
    status,
    headers: seconds === undefined ? undefined : { 'retry-after': String(seconds) },
  };
};

const kindOf = (status: number, report: ErrorReport, error: JsonObject): FaultKind => {
  if (status === 400) {
    if (details(error).some(({ reason }) => reason === 'API_KEY_INVALID') || /^API key\b/i.test(report.message)) {
      return 'upstream-auth';
    }
    if (error.status === 'FAILED_PRECONDITION' && /billing/i.test(report.message)) return 'upstream-billing';
  }
  if (isContextOverflow(report, status)) return 'upstream-context';
  return kindOfStatus(status);
};

const messageOf = (kind: FaultKind, status: number, given: string): string => {
  // The vendor's message on credentials may quote them.
  if (kind === 'upstream-auth') return `The upstream refused the provider's API key (status ${status}).`;
  return given === '' ? `The upstream answered with status ${status}.` : given;
};

/** Masks keys: messages to a key's owner quote the key. */
const withoutKeys = (message: string): string =>
  message.replace(/api_key:[^\s'"]+/g, 'api_key:…').replace(/\bAIza[\w-]{10,}/g, '…');

/**
 * The retry delay in whole seconds, which this vendor puts in the body. Source: google.rpc.RetryInfo,
 * google.protobuf.Duration.
 */
const retrySeconds = (error: JsonObject): number | undefined => {
  for (const { retryDelay } of details(error)) {
    const seconds = typeof retryDelay === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(retryDelay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return undefined;
};

const details = ({ details: given }: JsonObject): readonly JsonObject[] =>
  Array.isArray(given) ? given.filter(isJsonObject) : [];
