import { shortAddress } from './host-name.ts';
import type { HeaderPairs, Headers } from './incoming.ts';
import type { UwsRequest, UwsResponse } from './load-uws.ts';

/** A request's head, copied out of the native request, which is gone when its handler returns. */
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
    // Undefined when the target has no question mark, whatever the declarations say.
    query: req.getQuery() ?? '',
    pairs,
    headers: joinHeaders(pairs),
    remoteAddress: addressText(new Uint8Array(res.getRemoteAddress())),
  };
};

/** By name; values of a repeated header are joined by `, `. Without a prototype, so that any name is just a name. */
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
