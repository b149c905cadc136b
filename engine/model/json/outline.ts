import { Buffer, isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  escapeEnd,
  JsonBytes,
  openBrace,
  openBracket,
  parseJson,
  quote,
} from './json.ts';

/**
 * The outline of a JSON body: the same JSON, with a mark in place of each long text. Decoded by the usual decoders, it gives the
 * same request without the cost of its texts, which are nearly all of its bytes. The body itself is valid JSON exactly if the
 * outline is, and the long texts hold no control characters and bad escapes: where the body passes, that is left to the vendor.
 */
export interface Outline {
  readonly body: Uint8Array;
  readonly json: string;
  /** How many arrays and objects it has. */
  readonly nodes: number;
  /** The range of the body's only top-level `model` value. */
  readonly model: Range;
  /** The range of the string that this mark replaces; `undefined` for any other text. */
  readonly rangeOf: (text: string) => Range | undefined;
  /** The text with its marks replaced; those in JSON text by JSON strings. */
  readonly restore: (text: string) => string;
}

/** Offsets in the body: of the first byte, and after the last. */
export type Range = readonly [from: number, to: number];

/** The texts to leave out of an outline. */
interface OutlineOptions {
  /** Names of the members whose long strings are cut. */
  readonly cut: ReadonlySet<string>;
  /** Maximum nesting of the body. */
  readonly depth: number;
}

/** Cutting a shorter string costs more than parsing it. */
const minCut = 80;

/**
 * Outlines a body in one pass. `undefined` if only a full parse can decide: invalid UTF-8, invalid characters or escapes at the
 * beginning of a string, deeper nesting, no top-level `model` that is a string, or several.
 */
export const outlineOf = (body: Uint8Array, { cut, depth }: OutlineOptions): Outline | undefined => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!isUtf8(bytes)) return undefined;
  const json = new JsonBytes(bytes);
  const kept = new Kept(bytes);
  let model: Range | undefined;
  let level = 0;
  let nodes = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === openBrace || byte === openBracket) {
      level += 1;
      nodes += 1;
      if (level > depth) return undefined;
    } else if (byte === closeBrace || byte === closeBracket) level -= 1;
    if (byte !== quote) {
      at += 1;
      continue;
    }
    const end = json.stringEnd(at);
    if (end < 0) return undefined;
    const name: Range = [at + 1, end - 1];
    at = json.skipSpace(end);
    // A string before a colon is a member's name.
    if (bytes[at] !== colon) continue;
    const value = json.skipSpace(at + 1);
    at = value;
    const isString = bytes[value] === quote;
    if (isString) {
      at = json.stringEnd(value);
      if (at < 0) return undefined;
      if (at - value > minCut && cut.has(bytes.toString('latin1', name[0], name[1])) && !beginsBlank(bytes, value + 1))
        kept.cut(value + 1, at - 1);
    }
    if (level > 1) continue;
    if (isEscaped(bytes, name)) return undefined;
    if (name[1] - name[0] !== modelName.length || bytes.toString('latin1', name[0], name[1]) !== modelName) continue;
    if (model || !isString) return undefined;
    model = [value, at];
  }
  return model && kept.outline(model, nodes);
};

const modelName = 'model';

const isEscaped = (bytes: Uint8Array, [from, to]: Range): boolean => {
  for (let at = from; at < to; at += 1) if (bytes[at] === backslash) return true;
  return false;
};

/**
 * Whether a string starts with blank text. Some readers treat blank text as absent, so a mark in its place would change what
 * they read. Only the beginning is inspected, which bounds the time.
 */
const beginsBlank = (bytes: Buffer, from: number): boolean => {
  let at = from;
  for (let count = 0; count < maxBlank; count += 1) {
    const end = bytes[at] === backslash ? escapeEnd(bytes, at) : undefined;
    const [character = ''] = end === undefined ? bytes.toString('utf8', at, at + 4) : unescaped(bytes, at, end);
    if (character.trim() !== '') return false;
    at = end ?? at + Buffer.byteLength(character);
  }
  return true;
};

/** Characters inspected. Every text that may be cut has as many: one takes six bytes at most, as `\u0020`. */
const maxBlank = Math.floor((minCut - 1) / 6);

const unescaped = (bytes: Buffer, from: number, to: number): string =>
  String(JSON.parse(`"${bytes.toString('latin1', from, to)}"`));

/** Unique to this process. Clients can't know it, so they can't forge a mark. */
const nonce = randomBytes(9).toString('base64url');
/** The prefix of every mark. */
const prefix = `cut.${nonce}.`;
/** The end of every mark: text that is joined after it can't become part of it. */
const terminator = '~';
/** Matches a possible mark, with its quotes if it is a whole JSON string. */
const marks = /("?)(cut\.[\w-]{12}\.\d{1,9}~)\1/g;

/** The outline of a body while it is being read. */
class Kept {
  readonly #bytes: Buffer;
  readonly #pieces: string[] = [];
  readonly #cuts: Range[] = [];
  #from = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  cut(from: number, to: number): void {
    this.#pieces.push(this.#bytes.toString('utf8', this.#from, from), prefix + this.#cuts.length + terminator);
    this.#cuts.push([from, to]);
    this.#from = to;
  }

  outline(model: Range, nodes: number): Outline {
    const bytes = this.#bytes;
    const cuts = this.#cuts;
    const rangeOf = (text: string): Range | undefined =>
      text.startsWith(prefix) ? cuts[Number(text.slice(prefix.length, -terminator.length))] : undefined;
    const textOf = ([from, to]: Range): string => {
      const text = parseJson(bytes.toString('utf8', from - 1, to + 1));
      return typeof text === 'string' ? text : bytes.toString('utf8', from, to);
    };
    return {
      body: bytes,
      json: [...this.#pieces, bytes.toString('utf8', this.#from, bytes.length)].join(''),
      nodes,
      model,
      rangeOf,
      restore: (text) =>
        text.includes(prefix)
          ? text.replace(marks, (found, quoted: string, mark: string) => {
              const range = rangeOf(mark);
              if (!range) return found;
              return quoted ? JSON.stringify(textOf(range)) : textOf(range);
            })
          : text,
    };
  }
}
