import { randomFillSync } from 'node:crypto';

/** Bytes drawn at once: one draw costs as much as the work on some hundred of them. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** Random lower-case hexadecimal text that nobody can guess; two characters a byte. */
export const randomHex = (bytes: number): string => {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += bytes;
  return drawn.toString('hex', used - bytes, used);
};
