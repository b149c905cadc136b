import { hash, timingSafeEqual } from 'node:crypto';
import type { HeaderList } from './endpoint.ts';
import { headerValue } from './request-head.ts';

/** Whether a request carries the API key. */
export type KeyCheck = (headers: HeaderList) => boolean;

/**
 * Checks `Authorization: Bearer` and `x-api-key`; one match suffices, since some clients send both with only one correct.
 * Compares digests in constant time, so that timing reveals neither the key nor its length. Without a key all requests pass.
 */
export const keyCheck = (apiKey: string | undefined): KeyCheck => {
  if (!apiKey) return () => true;
  const expected = digest(apiKey);
  const matches = (given: string | undefined): boolean =>
    given !== undefined && timingSafeEqual(digest(given), expected);
  return (headers) => {
    const bearer = matches(/^bearer +(.*)$/is.exec(headerValue(headers, 'authorization') ?? '')?.[1]);
    const plain = matches(headerValue(headers, 'x-api-key'));
    return bearer || plain;
  };
};

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
