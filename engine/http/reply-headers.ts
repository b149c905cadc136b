/** Header values as they go out: text, or bytes where a character isn't ASCII. */
export type WireValue = string | Uint8Array;

/**
 * The headers that may go out: what frames the message is written elsewhere, names that aren't tokens are left out, and no
 * value can end its line. Source: RFC 9110, "Field Values".
 */
export const safeHeaders = (headers: Readonly<Record<string, string>>): readonly (readonly [string, WireValue])[] => {
  const safe: (readonly [string, WireValue])[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && mayGo(name)) safe.push([name, safeValue(value)]);
  }
  return safe;
};

/** Answers have the same few headers, over and over. */
const known = new Map<string, boolean>();
const mostKnown = 500;

const mayGo = (name: string): boolean => {
  const before = known.get(name);
  if (before !== undefined) return before;
  const may = isToken.test(name) && !framing.has(name.toLowerCase());
  if (known.size >= mostKnown) known.clear();
  known.set(name, may);
  return may;
};

const isToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Control characters become spaces and characters beyond Latin-1 question marks. */
const safeValue = (value: string): WireValue => {
  if (/^[\x20-\x7e]*$/.test(value)) return value;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not go out.
  const clean = value.replace(/[\x00-\x1f\x7f]/g, ' ').replace(/[^\x00-\xff]/gu, '?');
  return Buffer.from(clean, 'latin1');
};
