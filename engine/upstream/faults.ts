import { errors } from 'undici';
import { errorCode, FaultError, type FaultKind } from '../model/fault.ts';

/** The fault of a failed connection. `peer` names the other side: `upstream api.example`, `proxy 10.0.0.1:3128`. */
export const connectFault = (peer: string, error: Error): FaultError => {
  const code = codeOf(error);
  const kind = code === 'ETIMEDOUT' ? 'upstream-timeout' : 'upstream-unreachable';
  const retryOtherUpstream = isTlsCode(code) || code === 'ENOTFOUND';
  return faultError(kind, `The ${peer} can't be reached: ${describeConnectError(code)}.`, error, retryOtherUpstream);
};

/** The fault of a connection that wasn't made in time. `host` includes a non-default port. */
export const connectTimeout = (host: string, connectMs: number): FaultError =>
  faultError('upstream-timeout', `The upstream ${host} can't be reached: no connection within ${seconds(connectMs)}.`);

/** The fault of an answer that didn't begin in time. It isn't retried: the upstream may be at work, and charge for it. */
export const firstByteTimeout = (host: string, firstByteMs: number): FaultError => {
  const words = `The upstream ${host} gave no answer within ${seconds(firstByteMs)}.`;
  return faultError('upstream-timeout', words, undefined, true);
};

/** The fault of a call that wasn't over in time. It isn't retried either, for the same reason. */
export const callTimeout = (host: string, callMs: number): FaultError => {
  const words = `The upstream ${host} hasn't finished its answer within ${seconds(callMs)}, the limit of a call.`;
  return faultError('upstream-timeout', words, undefined, true);
};

/** The fault of a connection that died while the machine slept. Not a fault of the upstream. */
export const asleepFault = (host: string): FaultError =>
  new FaultError({
    kind: 'upstream-cut',
    message: `The connection to the upstream ${host} was lost while this machine slept.`,
    countsAgainstHealth: false,
  });

/** The fault of a connection that showed no sign of life in the middle of an answer. */
export const deadFault = (host: string, silentMs: number): FaultError =>
  faultError(
    'upstream-cut',
    `The connection to the upstream ${host} is lost: no sign of life for ${seconds(silentMs)}.`,
  );

/** The fault of a call that got no connection: `late` after waiting, `full` without. Not a fault of the upstream. */
export const poolFault = (
  host: string,
  why: 'full' | 'late',
  { queuePerProvider, queueMs }: { readonly queuePerProvider: number; readonly queueMs: number },
): FaultError => {
  const all = `All connections to the upstream ${host} are in use`;
  const message =
    why === 'full'
      ? `${all}, and ${queuePerProvider} calls are already waiting.`
      : `${all}; none became free within ${seconds(queueMs)}.`;
  const code = why === 'full' ? 'queue_full' : 'queue_timeout';
  return new FaultError({ kind: 'unavailable', message, code, headers: { 'retry-after': '1' } });
};

/** The fault of an error on an open connection. An error that isn't the network's is returned unchanged: it is a bug. */
export const callFault = (host: string, error: Error, idleMs: number): Error => {
  if (error instanceof FaultError) return error;
  const code = codeOf(error);
  const fault = (kind: FaultKind, words: string) => faultError(kind, `The upstream ${host} ${words}.`, error);
  if (code === 'UND_ERR_BODY_TIMEOUT') {
    return fault('upstream-timeout', `sent nothing for ${seconds(idleMs)} in the middle of its answer`);
  }
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return fault('misconfigured', `can't be called: ${error.message}`);
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return fault('upstream-garbled', 'sent response headers that are too large');
  if (isGarbled(error)) return fault('upstream-garbled', "sent an answer that isn't HTTP/1.1");
  if (isLost(error)) return fault('upstream-cut', 'closed the connection before its answer was complete');
  return error;
};

/**
 * Whether the peer refused bytes: it had closed the connection, or closed it with some bytes unread.
 * Source: RFC 9293, section 3.10.7.
 */
export const isReset = (error: Error): boolean => resetCodes.has(codeOf(error));

/** Whether the peer ended the connection. */
export const isEnd = (error: Error): boolean => codeOf(error) === 'UND_ERR_SOCKET' && !isRefusedStatus(error);

/** `Connection` renames a reset to `ECONNABORTED`. */
const resetCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE']);

/** The connection was closed or reset by the peer, or broke. */
const isLost = (error: Error): boolean => {
  const code = codeOf(error);
  return isShort(error) || isEnd(error) || /^E[A-Z]+$/.test(code);
};

/** A body shorter than its length, or without the last chunk. undici reports the latter only in the parser's message. */
const isShort = (error: Error): boolean =>
  codeOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
  (error instanceof errors.HTTPParserError && error.message.includes('Invalid EOF state'));

const isGarbled = (error: Error): boolean =>
  (error instanceof errors.HTTPParserError && !isShort(error)) || isRefusedStatus(error) || codeOf(error) === assertion;

/** undici asserts what a valid answer implies, such as a status from 100. */
const assertion = 'ERR_ASSERTION';

/** An unsolicited status 100 or 101, or an unsolicited answer. undici reports it only in the message. */
const isRefusedStatus = (error: Error): boolean =>
  codeOf(error) === 'UND_ERR_SOCKET' && error.message.startsWith('bad ');

const describeConnectError = (code: string): string => {
  if (isTlsCode(code)) return tlsWords(code);
  switch (code) {
    case 'ECONNREFUSED':
      return 'it refused the connection';
    case 'ENOTFOUND':
      return 'its host name is unknown';
    case 'EAI_AGAIN':
      return "its host name can't be looked up at the moment";
    case 'ECONNRESET':
      return 'it closed the connection immediately';
    case 'ETIMEDOUT':
      return 'it does not respond';
    case '':
      return 'the connection failed';
    default:
      return `the connection failed (${code})`;
  }
};

const codeOf = (error: Error): string => errorCode(error) ?? '';

const seconds = (ms: number): string => `${ms / 1000} s`;

const faultError = (kind: FaultKind, message: string, cause?: Error, retryOtherUpstream = false): FaultError =>
  new FaultError({ kind, message, ...(retryOtherUpstream && { retryOtherUpstream }) }, { cause });

/** Whether an error's code says that TLS failed. Source: Node.js documentation, "X509 certificate error codes". */
const isTlsCode = (code: string): boolean =>
  certificateCodes.has(code) || code === 'EPROTO' || /^ERR_(SSL|TLS|OSSL)_/.test(code);

/** Describes a TLS error code. */
const tlsWords = (code: string): string =>
  certificateCodes.has(code) || code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? `its TLS certificate can't be trusted (${code})`
    : `the TLS handshake failed (${code})`;

const certificateCodes: ReadonlySet<string> = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The fault of bytes that aren't valid in their encoding. */
export const garbled = (coding: string, cause: unknown): FaultError =>
  new FaultError({ kind: 'upstream-garbled', message: `The upstream's answer is not valid ${coding}.` }, { cause });

/** The fault of a compressed body beyond its limit. */
export const tooMuch = (maxBytes: number): FaultError =>
  new FaultError({
    kind: 'upstream-garbled',
    message: `The upstream's compressed answer is larger than ${maxBytes} bytes. LIMITS.decompressedReplyBytes in the configuration sets the limit.`,
  });
