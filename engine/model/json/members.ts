import type { Buffer } from 'node:buffer';
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isJsonObject,
  JsonBytes,
  type JsonObject,
  openBrace,
  openBracket,
  parseJson,
  quote,
} from './json.ts';

/** One member of an object in JSON bytes, by offsets. */
export interface JsonMember extends JsonSpan {
  readonly name: string;
  /** Where its name begins, with the quote. */
  readonly at: number;
}

/** Where a value begins in JSON bytes, and the offset after it. */
interface JsonSpan {
  readonly from: number;
  readonly to: number;
}

/** More members than any request or item has: each is held by some hundred bytes. */
const maxMembers = 10_000;

/**
 * The members of an object in JSON bytes, in order, without parsing their values; `undefined` if the bytes are surely no JSON object, or
 * one of more than 10,000 members.
 * What it accepts isn't always valid JSON: only the ends of values are found. Linear.
 */
export const memberSpans = (bytes: Buffer): readonly JsonMember[] | undefined => {
  const json = new JsonBytes(bytes);
  const members: JsonMember[] = [];
  const isEnd = (at: number): boolean => bytes[at] === closeBrace && json.skipSpace(at + 1) === bytes.length;
  let at = json.skipSpace(0);
  if (bytes[at] !== openBrace) return undefined;
  at = json.skipSpace(at + 1);
  if (isEnd(at)) return members;
  while (bytes[at] === quote) {
    const nameEnd = json.stringEnd(at);
    const mark = json.skipSpace(nameEnd);
    if (nameEnd < 0 || bytes[mark] !== colon) return undefined;
    const value = json.skipSpace(mark + 1);
    const end = valueEndIn(bytes, json, value);
    const name = end > value ? nameIn(bytes, at, nameEnd) : undefined;
    if (name === undefined) return undefined;
    if (members.push({ name, at, from: value, to: end }) > maxMembers) return undefined;
    at = json.skipSpace(end);
    if (isEnd(at)) return members;
    if (bytes[at] !== comma) return undefined;
    at = json.skipSpace(at + 1);
  }
  return undefined;
};

/** The items of an array in JSON bytes, as `memberSpans`. */
export const itemSpans = (bytes: Buffer): readonly JsonSpan[] | undefined => {
  const json = new JsonBytes(bytes);
  const items: JsonSpan[] = [];
  const isEnd = (at: number): boolean => bytes[at] === closeBracket && json.skipSpace(at + 1) === bytes.length;
  let at = json.skipSpace(0);
  if (bytes[at] !== openBracket) return undefined;
  at = json.skipSpace(at + 1);
  if (isEnd(at)) return items;
  while (at < bytes.length) {
    const to = valueEndIn(bytes, json, at);
    if (to <= at || items.push({ from: at, to }) > maxMembers) return undefined;
    at = json.skipSpace(to);
    if (isEnd(at)) return items;
    if (bytes[at] !== comma) return undefined;
    at = json.skipSpace(at + 1);
  }
  return undefined;
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

const nameIn = (bytes: Buffer, from: number, to: number): string | undefined => {
  const written = bytes.toString('utf8', from + 1, to - 1);
  if (!written.includes('\\')) return written;
  try {
    return String(JSON.parse(`"${written}"`));
  } catch {
    return undefined;
  }
};

/** The offset after the value that begins at `from`; -1 if it doesn't end. */
const valueEndIn = (bytes: Buffer, json: JsonBytes, from: number): number => {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === quote) {
      at = json.stringEnd(at);
      if (at < 0 || depth === 0) return at;
      continue;
    }
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      // After a number or literal that is the last in its container.
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (byte === comma || isSpaceByte(byte))) return at;
    at += 1;
  }
  return -1;
};

const isSpaceByte = (byte: number | undefined): boolean => byte !== undefined && byte <= 0x20;
