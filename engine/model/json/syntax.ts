/** Characters of JSON's syntax, as UTF-16 code units or bytes. */
export const quote = 0x22;
export const comma = 0x2c;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const letterU = 0x75;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** White space of JSON. Source: RFC 8259, section 2. */
export const isJsonSpace = (code: number | undefined): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Whether an odd number of backslashes precedes a quote inside JSON text. */
export const isEscaped = (text: string, at: number): boolean => {
  let from = at;
  while (text.charCodeAt(from - 1) === backslash) from -= 1;
  return (at - from) % 2 === 1;
};
