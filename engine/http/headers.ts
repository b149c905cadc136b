import { randomFillSync } from 'node:crypto';
import type { Fault } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import { BoundedMap } from '../runtime/memoize.ts';
import type { HeaderList } from './endpoint.ts';
import { shortAddress } from './host-name.ts';

/** A header's value by lower-case name; values of repeated headers are joined with `, `. */
export const headerValue = (headers: HeaderList, name: string): string | undefined => {
  let joined: string | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] !== name) continue;
    const value = headers[at + 1] ?? '';
    joined = joined === undefined ? value : `${joined}, ${value}`;
  }
  return joined;
};

/** All headers by name, as `headerValue` reads them. No prototype: a header may be named `__proto__`. */
export const joinHeaders = (list: HeaderList): Headers => {
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? '';
    const value = list[at + 1] ?? '';
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return headers;
};

/** An address of 4 or 16 bytes as text; empty when there is none. */
export const addressText = (address: ArrayBuffer): string =>
  knownAddresses.remember(Buffer.from(address).toString('latin1'), textOfBytes);

/** Cache, by the bytes as Latin-1: to shorten an address takes a URL parser. */
const knownAddresses = new BoundedMap<string, string>(500);

const textOfBytes = (latin1: string): string => {
  const bytes = Buffer.from(latin1, 'latin1');
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return '';
  return shortAddress(Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16)).join(':'));
};

/**
 * Checks for ambiguous framing (request smuggling); `undefined`: the length is unambiguous. Two parsers may see different
 * requests in such a message, so close the connection after the answer. Source: RFC 9112, "Message Body Length".
 */
export const framingFault = (headers: HeaderList): Fault | undefined => {
  let lengths = 0;
  let codings = 0;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at];
    const value = headers[at + 1] ?? '';
    if (name === 'content-length') {
      lengths += 1;
      if (!/^[0-9]{1,15}$/.test(value)) return malformed('Content-Length is invalid');
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

/** The client's request id if it is 1 to 128 visible ASCII characters, else a new one. */
export const requestId = (given: string | undefined): string =>
  given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : `req_${randomHex(12)}`;

/** Random bytes, drawn in bulk: one draw costs as much as processing some hundred bytes. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** Cryptographically random lower-case hexadecimal text; two characters per byte. */
export const randomHex = (bytes: number): string => {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += bytes;
  return drawn.toString('hex', used - bytes, used);
};

/**
 * The headers that are safe to send, as Latin-1. Drops framing headers and the request's id, which are written elsewhere, and
 * names that aren't tokens; cleans values so that none can end its line. Source: RFC 9110, "Field Values".
 */
export const safeHeaders = (headers: Readonly<Record<string, string>>): string[] => {
  const safe: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && known.remember(name, isAllowed)) safe.push(name, safeValue(value));
  }
  return safe;
};

/** Cache: answers repeat the same few header names. */
const known = new BoundedMap<string, boolean>(500);

const isAllowed = (name: string): boolean => isToken.test(name) && !reserved.has(name.toLowerCase());

const isToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const reserved: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
  'request-id',
]);

/** Replaces control characters with spaces and characters beyond Latin-1 with question marks. */
const safeValue = (value: string): string =>
  isAscii(value)
    ? value
    : // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not be sent.
      value.replace(/[\x00-\x1f\x7f]/g, ' ').replace(/[^\x00-\xff]/gu, '?');

/** Whether a text has printable ASCII characters alone. */
export const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
