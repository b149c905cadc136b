/** A header value to send: text, or Latin-1 bytes when it isn't ASCII. */
type WireValue = string | Uint8Array;

/**
 * The headers that are safe to send. Drops framing headers, which are written elsewhere, and names that aren't tokens;
 * cleans values so that none can end its line. Source: RFC 9110, "Field Values".
 */
export const safeHeaders = (headers: Readonly<Record<string, string>>): readonly (readonly [string, WireValue])[] => {
  const safe: (readonly [string, WireValue])[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && isAllowed(name)) safe.push([name, safeValue(value)]);
  }
  return safe;
};

/** Cache: answers repeat the same few header names. */
const known = new Map<string, boolean>();
const maxKnown = 500;

const isAllowed = (name: string): boolean => {
  const before = known.get(name);
  if (before !== undefined) return before;
  const may = isToken.test(name) && !framing.has(name.toLowerCase());
  if (known.size >= maxKnown) known.clear();
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

/** Replaces control characters with spaces and characters beyond Latin-1 with question marks. */
const safeValue = (value: string): WireValue => {
  if (/^[\x20-\x7e]*$/.test(value)) return value;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not be sent.
  const clean = value.replace(/[\x00-\x1f\x7f]/g, ' ').replace(/[^\x00-\xff]/gu, '?');
  return Buffer.from(clean, 'latin1');
};
