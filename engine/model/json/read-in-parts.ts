import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { utf8Text } from '../utf8.ts';
import {
  closeBrace,
  closeBracket,
  comma,
  hasKeptDigits,
  isJsonObject,
  type Json,
  JsonBytes,
  type JsonDraft,
  type JsonObject,
  keepDigits,
  openBrace,
  openBracket,
  quote,
} from './json.ts';

/*
 * A large object in parts: its text isn't made as a whole. From 128 KiB of memory on, V8 gives a string pages of its own, which
 * are fetched from the operating system and given back each time: that costs more than to parse it. Large bodies are lists of
 * messages, so the lists that are members of the object are parsed some elements at a time.
 */

/** From this many bytes on, a body is read and written in parts: shorter ones have no text that V8 gives pages of its own. */
export const minInParts = 64 * 1024;

/** Bytes of the text of a part, unless one element is longer. Two bytes a character, it takes less than V8's 128 KiB. */
const partBytes = 48 * 1024;

/** The elements of a list between its brackets: offsets of parts, each but the last up to a comma. */
type Parts = readonly (readonly [from: number, to: number])[];

/** What a scan has found in the bytes of an object. */
interface ObjectParts {
  /** How many arrays and objects it has. */
  readonly nodes: number;
  /** The object; `undefined` if the bytes aren't one, or if they are JSON that can only be read as a whole. */
  readonly read: () => JsonObject | undefined;
}

/** Scans UTF-8 in one pass; `undefined` for a nesting deeper than `depth`, an open string, or no list that is worth being parsed in parts. */
export const partsOf = (body: Uint8Array, depth: number): ObjectParts | undefined => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const json = new JsonBytes(bytes);
  const lists: Parts[] = [];
  let parts: [from: number, to: number][] = [];
  let nodes = 0;
  let level = 0;
  /** Where the current part of a list begins; -1 outside of one. */
  let from = -1;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === quote) {
      at = json.stringEnd(at);
      if (at < 0) return undefined;
      continue;
    }
    if (byte === openBrace || byte === openBracket) {
      nodes += 1;
      level += 1;
      if (level > depth) return undefined;
      if (level === 2 && byte === openBracket) from = at + 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      if (level === 2 && from >= 0) {
        parts.push([from, at]);
        if (parts.length > 1) lists.push(parts);
        parts = [];
        from = -1;
      }
      level -= 1;
    } else if (byte === comma && level === 2 && from >= 0 && at - from >= partBytes) {
      parts.push([from, at]);
      from = at + 1;
    }
    at += 1;
  }
  return lists.length === 0 ? undefined : { nodes, read: () => readObject(bytes, lists) };
};

/** The beginning of what stands for a list. Unique to this process: a client can't know it, so it can't forge one. */
const prefix = `list.${randomBytes(9).toString('base64url')}.`;

const readObject = (bytes: Buffer, lists: readonly Parts[]): JsonObject | undefined => {
  try {
    const value = parsed(skeletonOf(bytes, lists));
    if (!isJsonObject(value)) return undefined;
    const object: JsonDraft = value;
    for (const [name, member] of Object.entries(object)) {
      const [mark] = Array.isArray(member) ? member : [];
      const parts = typeof mark === 'string' && mark.startsWith(prefix) ? lists[Number(mark.slice(prefix.length))] : [];
      if (parts && parts.length > 0) object[name] = listOf(bytes, parts);
    }
    return object;
  } catch {
    return undefined;
  }
};

/** The object's text with the place of each list in `lists` in place of its elements. */
const skeletonOf = (bytes: Buffer, lists: readonly Parts[]): string => {
  let text = '';
  let written = 0;
  for (const [place, parts] of lists.entries()) {
    const [from] = parts[0] ?? [0];
    text += `${utf8Text(bytes.subarray(written, from))}"${prefix}${place}"`;
    written = parts.at(-1)?.[1] ?? 0;
  }
  return text + utf8Text(bytes.subarray(written));
};

/** Throws if one of the parts isn't a list of its own, or has numbers whose digits are kept: for lists around them, too. */
const listOf = (bytes: Buffer, parts: Parts): readonly Json[] => {
  const all: Json[] = [];
  for (const [from, to] of parts) {
    const list = Buffer.allocUnsafe(to - from + 2);
    list[0] = openBracket;
    bytes.copy(list, 1, from, to);
    list[list.length - 1] = closeBracket;
    const part = parsed(utf8Text(list));
    // Without an element, there is a comma too many.
    if (!Array.isArray(part) || part.length === 0 || hasKeptDigits(part)) throw new Error('Not a part of a list.');
    for (const element of part) all.push(element);
  }
  return all;
};

const parsed = (text: string): unknown => keepDigits(text, JSON.parse(text));
