import type { Fault } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import type { HeaderPairs } from './endpoint.ts';
import { shortAddress } from './host-name.ts';
import type { UwsRequest, UwsResponse } from './uws.ts';

/** A request's head, copied from the native request, which is only valid while its handler runs. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly pairs: HeaderPairs;
  readonly headers: Headers;
  readonly remoteAddress: string;
}

/** Copies the head; must be called while the native handler runs. */
export const readHead = (res: UwsResponse, req: UwsRequest): RequestHead => {
  const pairs: (readonly [string, string])[] = [];
  req.forEach((name, value) => {
    pairs.push([name, value]);
  });
  return {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    // Undefined without a question mark, contrary to the type declarations.
    query: req.getQuery() ?? '',
    pairs,
    headers: joinHeaders(pairs),
    remoteAddress: addressText(new Uint8Array(res.getRemoteAddress())),
  };
};

/** Headers by name; values of repeated headers are joined with `, `. No prototype: a header may be named `__proto__`. */
export const joinHeaders = (pairs: HeaderPairs): Headers => {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of pairs) {
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return headers;
};

/** An address of 4 or 16 bytes as text; empty when there is none. */
export const addressText = (bytes: Uint8Array): string => {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  if (bytes.length !== 16) return '';
  const groups: string[] = [];
  for (let at = 0; at < 16; at += 2) groups.push((((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));
  return shortAddress(groups.join(':'));
};

/**
 * Checks for ambiguous framing (request smuggling); `undefined`: the length is unambiguous. Two parsers may see different
 * requests in such a message, so close the connection after the answer. Source: RFC 9112, "Message Body Length".
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
