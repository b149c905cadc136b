/**
 * The headers that are safe to send, as Latin-1. Drops framing headers and the request's id, which are written elsewhere, and
 * names that aren't tokens; cleans values so that none can end its line. Source: RFC 9110, "Field Values".
 */
export const safeHeaders = (headers: Readonly<Record<string, string>>): string[] => {
  const safe: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && isAllowed(name)) safe.push(name, safeValue(value));
  }
  return safe;
};

/** Cache: answers repeat the same few header names. */
const known = new Map<string, boolean>();
const maxKnown = 500;

const isAllowed = (name: string): boolean => {
  const before = known.get(name);
  if (before !== undefined) return before;
  const may = isToken.test(name) && !reserved.has(name.toLowerCase());
  if (known.size >= maxKnown) known.clear();
  known.set(name, may);
  return may;
};

const isToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const reserved: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
  'request-id',
]);

/** Replaces control characters with spaces and characters beyond Latin-1 with question marks. */
const safeValue = (value: string): string =>
  /^[\x20-\x7e]*$/.test(value)
    ? value
    : // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not be sent.
      value.replace(/[\x00-\x1f\x7f]/g, ' ').replace(/[^\x00-\xff]/gu, '?');
