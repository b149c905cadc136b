import { Buffer } from 'node:buffer';

const keyBytes = 32;

/** A key of 32 bytes, written as hexadecimal digits or base64; `undefined` if it isn't one. */
export const secretKeyOf = (text: string): Buffer | undefined => {
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64');
  return key.length === keyBytes ? key : undefined;
};
