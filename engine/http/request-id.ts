import { randomHex } from '../random-hex.ts';

/** The client's own id of its request, when it is 1 to 128 visible ASCII characters; else a new one. */
export const requestId = (given: string | undefined): string =>
  given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : `req_${randomHex(12)}`;
