import { randomFillSync } from 'node:crypto';

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
