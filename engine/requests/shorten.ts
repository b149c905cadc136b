import { Buffer } from 'node:buffer';

/** A text of at most so many characters; what is cut off isn't kept alive by what is left. */
export const shorten = (text: string, most = 200): string =>
  text.length <= most ? text : Buffer.from(`${text.slice(0, most - 1)}…`).toString();
