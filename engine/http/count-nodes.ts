import { Buffer } from 'node:buffer';

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** Counts the arrays and objects in JSON text without parsing it. Linear; meaningless for other input. */
export const countNodes = (body: Uint8Array): number => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let nodes = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === openBracket || byte === openBrace) nodes += 1;
    else if (byte === quote) {
      at = stringEnd(bytes, at);
      if (at < 0) return nodes;
    }
  }
  return nodes;
};

/** Index of the closing quote of the string that starts at `from`; -1 if there is none. */
const stringEnd = (bytes: Buffer, from: number): number => {
  for (let at = bytes.indexOf(quote, from + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let escapes = at;
    while (bytes[escapes - 1] === backslash) escapes -= 1;
    if ((at - escapes) % 2 === 0) return at;
  }
  return -1;
};
