import type { HeaderList, WholeReply } from '../endpoint.ts';
import { headerValue } from '../headers.ts';

/** The headers that let a page of this origin read an answer. Source: Fetch standard, "HTTP responses" of the CORS protocol. */
export const corsHeaders = (origin: string): HeaderList => [
  'access-control-allow-origin',
  origin,
  'access-control-expose-headers',
  '*',
  'vary',
  'origin',
];

/** The method that a preflight asks for; `undefined`: the request is none. Source: Fetch standard, "CORS-preflight fetch". */
export const preflightMethod = (method: string, headers: HeaderList): string | undefined =>
  method === 'OPTIONS' ? headerValue(headers, 'access-control-request-method') : undefined;

/**
 * The answer to a preflight that is allowed. Names the headers that it asks for, since `*` doesn't stand for `authorization`. Allows
 * requests to a private address, which browsers ask for beside it. Source: Fetch standard; "Private Network Access", section 3.
 */
export const preflightReply = (method: string, headers: HeaderList): WholeReply => {
  const wanted = headerValue(headers, 'access-control-request-headers');
  const isPrivate = headerValue(headers, 'access-control-request-private-network') === 'true';
  return {
    type: 'whole',
    status: 204,
    headers: {
      'access-control-allow-methods': method,
      ...(wanted !== undefined && { 'access-control-allow-headers': wanted }),
      ...(isPrivate && { 'access-control-allow-private-network': 'true' }),
      'access-control-max-age': '600',
    },
    body: '',
  };
};
