import type { Buffer } from 'node:buffer';
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isJsonObject,
  isJsonSpace,
  type JsonObject,
  openBrace,
  openBracket,
  parseJson,
  quote,
  skipSpace,
  stringEnd,
} from './json.ts';

/** A range of JSON, in UTF-16 units of a text or in bytes: the offset of its beginning, and that after it. */
interface JsonSpan {
  readonly from: number;
  readonly to: number;
}

/** A member of an object; the range is that of its value. */
export interface JsonMember extends JsonSpan {
  readonly name: string;
  /** Offset of its name, with the quote. */
  readonly at: number;
}

/** More members than any request or item has: each is held by some hundred bytes. */
const maxMembers = 10_000;

/**
 * The members of an object, in order, without parsing their values; `undefined` if the JSON is surely no object, or one of more than `max` members.
 * What it accepts isn't always valid JSON: only the ends of values are found. Linear.
 */
export const membersIn = (json: string | Buffer, max = maxMembers): readonly JsonMember[] | undefined => {
  const source = sourceOf(json);
  const members: JsonMember[] = [];
  const isWhole = walk(source, [openBrace, closeBrace], (at) => {
    const nameEnd = source.charCodeAt(at) === quote ? stringEnd(source, at) : 0;
    const name = nameEnd === 0 ? undefined : nameIn(textOf(json, at + 1, nameEnd - 1));
    const mark = skipSpace(source, nameEnd);
    if (name === undefined || source.charCodeAt(mark) !== colon) return -1;
    const from = skipSpace(source, mark + 1);
    const to = valueEnd(source, from);
    return to > from && members.push({ name, at, from, to }) <= max ? to : -1;
  });
  return isWhole ? members : undefined;
};

/** The items of an array, as `membersIn`. */
export const itemsIn = (json: string | Buffer, max = maxMembers): readonly JsonSpan[] | undefined => {
  const source = sourceOf(json);
  const items: JsonSpan[] = [];
  const isWhole = walk(source, [openBracket, closeBracket], (from) => {
    const to = valueEnd(source, from);
    return to > from && items.push({ from, to }) <= max ? to : -1;
  });
  return isWhole ? items : undefined;
};

/** The bytes of a member's value, or of an item. */
export const memberBytes = (bytes: Buffer, { from, to }: JsonSpan): Buffer => bytes.subarray(from, to);

/** The last member of this name, as parsers have it. */
export const memberNamed = (members: readonly JsonMember[], name: string): JsonMember | undefined =>
  members.findLast((member) => member.name === name);

/**
 * The members of the object in JSON bytes from the one on whose name begins at `from`; `undefined` if none of its own does. Only these
 * are parsed: they end with the object's brace, so they are an object themselves behind another one. What is deeper ends with more
 * braces than that, and a quote inside a string has a backslash before it.
 */
export const membersFrom = (bytes: Buffer, from: number): JsonObject | undefined => {
  const value = bytes[from - 1] === backslash ? undefined : parseJson(`{${bytes.toString('utf8', from)}`);
  return isJsonObject(value) ? value : undefined;
};

/** Bytes as a text of one unit for each, so that its offsets are theirs: what a walk looks for is ASCII. */
const sourceOf = (json: string | Buffer): string => (typeof json === 'string' ? json : json.toString('latin1'));

const textOf = (json: string | Buffer, from: number, to: number): string =>
  typeof json === 'string' ? json.slice(from, to) : json.toString('utf8', from, to);

/** Whether the text is one container; `next` returns the offset after the entry that begins at an offset, -1 to stop. */
const walk = (
  json: string,
  [open, close]: readonly [open: number, close: number],
  next: (at: number) => number,
): boolean => {
  const isEnd = (at: number): boolean => json.charCodeAt(at) === close && skipSpace(json, at + 1) === json.length;
  let at = skipSpace(json, 0);
  if (json.charCodeAt(at) !== open) return false;
  at = skipSpace(json, at + 1);
  if (isEnd(at)) return true;
  while (at < json.length) {
    const end = next(at);
    if (end < 0) return false;
    at = skipSpace(json, end);
    if (isEnd(at)) return true;
    if (json.charCodeAt(at) !== comma) return false;
    at = skipSpace(json, at + 1);
  }
  return false;
};

/** The offset after the value that begins at `from`; -1 if it doesn't end within a container. */
const valueEnd = (json: string, from: number): number => {
  let depth = 0;
  let at = from;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(json, at);
      if (end === 0) return -1;
      if (depth === 0) return end;
      at = end;
      continue;
    }
    if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) {
      // After a number or literal that is the last in its container.
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === comma || isJsonSpace(code))) return at;
    at += 1;
  }
  return -1;
};

const nameIn = (written: string): string | undefined => {
  if (!written.includes('\\')) return written;
  const name = parseJson(`"${written}"`);
  return typeof name === 'string' ? name : undefined;
};
