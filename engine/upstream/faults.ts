import { errors } from 'undici';
import { FaultError, type FaultKind } from '../model/fault.ts';
import type { Room } from './connections.ts';
import { isTlsCode, tlsWords } from './tls-codes.ts';

/** How long an upstream may stay silent, in milliseconds. */
export interface Patience {
  /** Until the answer's head is there, from when the request was sent. */
  readonly firstByteMs: number;
  /** Between two chunks of the answer's body. */
  readonly idleMs: number;
}

/** What kept a connection from being made; `peer` is who didn't take it: `upstream api.example`, `proxy 10.0.0.1:3128`. */
export const connectFault = (peer: string, error: Error): FaultError => {
  const code = codeOf(error);
  const kind = code === 'ETIMEDOUT' ? 'upstream-timeout' : 'upstream-unreachable';
  const elsewhere = isTlsCode(code) || code === 'ENOTFOUND';
  return faultError(kind, `The ${peer} can't be reached: ${connectWords(code)}.`, error, elsewhere);
};

/** No connection came about in time. `host` is the upstream's, with its port where that isn't the scheme's own. */
export const connectTimeout = (host: string, connectMs: number): FaultError =>
  faultError('upstream-timeout', `The upstream ${host} can't be reached: no connection within ${seconds(connectMs)}.`);

/** There was no connection to be had: `why` tells whether it was waited for. Nothing is wrong with the upstream. */
export const roomFault = (host: string, why: 'full' | 'late', { queue, queueMs }: Room): FaultError => {
  const all = `All connections to the upstream ${host} are in use`;
  const message =
    why === 'full'
      ? `${all}, and ${queue} calls wait already.`
      : `${all}; none became free within ${seconds(queueMs)}.`;
  const code = why === 'full' ? 'queue_full' : 'queue_timeout';
  return new FaultError({ kind: 'unavailable', message, code, headers: { 'retry-after': '1' } });
};

/** What went wrong once there was a connection. An error that is none of the network's stays as it is: it's a bug. */
export const callFault = (host: string, error: Error, patience: Patience): Error => {
  if (error instanceof FaultError) return error;
  const code = codeOf(error);
  const fault = (kind: FaultKind, words: string) => faultError(kind, `The upstream ${host} ${words}.`, error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') {
    // It may be at work on an answer, and charge for it; and nobody waits as long a second time.
    const words = `The upstream ${host} gave no answer within ${seconds(patience.firstByteMs)}.`;
    return faultError('upstream-timeout', words, error, true);
  }
  if (code === 'UND_ERR_BODY_TIMEOUT') {
    return fault('upstream-timeout', `sent nothing for ${seconds(patience.idleMs)} in the middle of its answer`);
  }
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return fault('misconfigured', `can't be called: ${error.message}`);
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return fault('upstream-garbled', 'sent too long a head');
  if (isGarbled(error)) return fault('upstream-garbled', "sent an answer that isn't HTTP/1.1");
  if (isLost(error)) return fault('upstream-cut', 'closed the connection before its answer was complete');
  return error;
};

/** The connection was closed or reset from the other side, or broke. */
export const isLost = (error: Error): boolean => {
  const code = codeOf(error);
  return isShort(error) || (code === 'UND_ERR_SOCKET' && !isRefusedStatus(error)) || /^E[A-Z]+$/.test(code);
};

/** A body shorter than its length, or chunks without their end. undici tells the latter by the parser's words alone. */
const isShort = (error: Error): boolean =>
  codeOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
  (error instanceof errors.HTTPParserError && error.message.includes('Invalid EOF state'));

const isGarbled = (error: Error): boolean =>
  (error instanceof errors.HTTPParserError && !isShort(error)) || isRefusedStatus(error);

/** Status 100 or 101 unasked, or an answer that nobody asked for: again, the words alone tell. */
const isRefusedStatus = (error: Error): boolean =>
  codeOf(error) === 'UND_ERR_SOCKET' && error.message.startsWith('bad ');

const connectWords = (code: string): string => {
  if (isTlsCode(code)) return tlsWords(code);
  switch (code) {
    case 'ECONNREFUSED':
      return 'it refused the connection';
    case 'ENOTFOUND':
      return 'its name is unknown';
    case 'EAI_AGAIN':
      return "its name can't be looked up at the moment";
    case 'ECONNRESET':
      return 'it closed the connection at once';
    case 'ETIMEDOUT':
      return 'it does not respond';
    case '':
      return 'the connection failed';
    default:
      return `the connection failed (${code})`;
  }
};

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '');

const seconds = (ms: number): string => `${ms / 1000} s`;

const faultError = (kind: FaultKind, message: string, cause?: Error, elsewhere = false): FaultError =>
  new FaultError({ kind, message, ...(elsewhere && { elsewhere }) }, { cause });
