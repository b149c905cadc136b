import type { Fault } from '../model/fault.ts';
import type { HeaderPairs } from './incoming.ts';

/**
 * Says why a request's length can't be trusted; `undefined` when it can. Two parsers that read such a request differently
 * would see different requests, so the connection must be closed after the answer. Source: RFC 9112, "Message Body Length".
 */
export const framingFault = (headers: HeaderPairs): Fault | undefined => {
  let lengths = 0;
  let codings = 0;
  for (const [name, value] of headers) {
    if (name === 'content-length') {
      lengths += 1;
      if (!/^[0-9]{1,15}$/.test(value)) return malformed('Content-Length is no length');
    } else if (name === 'transfer-encoding') {
      codings += 1;
      if (value.toLowerCase() !== 'chunked') return malformed('Transfer-Encoding is not chunked');
    }
  }
  if (lengths > 1) return malformed('Content-Length is repeated');
  if (codings > 1) return malformed('Transfer-Encoding is repeated');
  return lengths + codings > 1 ? malformed('both Content-Length and Transfer-Encoding are given') : undefined;
};

const malformed = (what: string): Fault => ({ kind: 'invalid-request', message: `The request is malformed: ${what}.` });
