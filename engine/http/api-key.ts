import { createHash, timingSafeEqual } from 'node:crypto';
import type { Headers } from './incoming.ts';

/** Whether a request carries the service's key. */
export type KeyCheck = (headers: Headers) => boolean;

/**
 * Checks `Authorization: Bearer` and `x-api-key`; either will do, since clients that send both may have only one of them
 * right. Compares digests in constant time, so that neither the key's text nor its length shows. No key: all pass.
 */
export const keyCheck = (apiKey: string | undefined): KeyCheck => {
  if (!apiKey) return () => true;
  const expected = digest(apiKey);
  const fits = (given: string): boolean => timingSafeEqual(digest(given), expected);
  return (headers) => {
    const bearer = fits(/^bearer +(.*)$/i.exec(headers.authorization ?? '')?.[1] ?? '');
    const plain = fits(headers['x-api-key'] ?? '');
    return bearer || plain;
  };
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
