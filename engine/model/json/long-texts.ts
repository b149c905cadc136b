import { randomBytes } from 'node:crypto';
import { type Json, keepDigits, parseJson, quote, stringEnd, writeJsonSwapping } from './json.ts';
import { endsInPair } from './json-pieces.ts';

/*
 * Large JSON in pieces, so that no step takes long: its long strings are nearly all of it. They are read and written piece by piece,
 * apart from the rest of the JSON, in which marks stand for them.
 */

/** A string of this many characters on is read and written apart from the rest. */
const minLength = 4 * 1024;

/** Bytes or characters that are read or written at a time. Strings of this length are never copied when garbage is collected. */
const sliceLength = 256 * 1024;

/** Bytes that are copied at a time. */
const copyBytes = 1024 * 1024;

/** A long string. Joining its pieces would copy all of it: `text` is only looked at as a whole. */
interface LongText {
  readonly text: string;
  readonly pieces: readonly string[];
}

export type LongTexts = readonly LongText[];

/** The first piece of a known text, without joining all of its pieces; all of any other text. */
export const startOf = (text: string, known: LongTexts): string => piecesOf(text, known)[0] ?? text;

/** Compares references, or lengths: nearly all other strings have another length. */
const piecesOf = (text: string, known: LongTexts): readonly string[] =>
  known.find((one) => one.text === text)?.pieces ?? [text];

/** The prefix of every mark. Unique to this process: an answer can't know it, so it can't forge a mark. */
const prefix = `text.${randomBytes(9).toString('base64url')}.`;

const markOf = (index: number): string => `${prefix}${index}~`;

const isMark = (text: string): boolean => text.startsWith(prefix);

const indexOf = (mark: string): number => Number(mark.slice(prefix.length, -1));

/** JSON of which members may be replaced. */
type Draft = null | boolean | number | string | Container;
type Container = Draft[] | { [key: string]: Draft };

const isContainer = (value: Draft | undefined): value is Container => typeof value === 'object' && value !== null;

/** The value of JSON bytes. */
interface ReadJson {
  /** `undefined` if they aren't JSON. */
  readonly value: Json | undefined;
  /** Strings in it that were read in several pieces. */
  readonly texts: LongTexts;
}

/** Reads JSON bytes, the same as `parseJson` reads text. Yields after each piece of work. */
export function* readJsonInPieces(chunks: readonly Uint8Array[]): Generator<undefined, ReadJson> {
  const reader = new PieceReader();
  const decoder = new TextDecoder();
  for (const bytes of inSlices(chunks)) {
    reader.add(decoder.decode(bytes, { stream: true }));
    yield;
  }
  reader.add(decoder.decode());
  return reader.end();
}

/** The same bytes in slices of about one size. */
function* inSlices(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  let due: Uint8Array[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += sliceLength) {
      const part = chunk.subarray(from, from + sliceLength);
      due.push(part);
      bytes += part.length;
      if (bytes < sliceLength) continue;
      yield Buffer.concat(due);
      due = [];
      bytes = 0;
    }
  }
  yield Buffer.concat(due);
}

/** Reads JSON text piece by piece. */
class PieceReader {
  /** The text, with marks in place of long strings. */
  readonly #outline: string[] = [];
  readonly #texts: LongText[] = [];
  /** The open string, from its quote on; of a long one, the part that hasn't been read. */
  #open = '';
  /** The part of the open string read so far, if it is long. */
  #pieces: string[] = [];
  #isInvalid = false;

  add(text: string): void {
    if (!this.#isInvalid) this.#read(this.#open + text);
  }

  end(): ReadJson {
    this.#outline.push(this.#open);
    const value = this.#isInvalid ? undefined : restored(this.#outline.join(''), this.#texts);
    return { value, texts: this.#texts.filter(({ pieces }) => pieces.length > 1) };
  }

  /** Reads text that begins outside of strings, or with the open one's quote. */
  #read(text: string): void {
    this.#open = '';
    let written = 0;
    let at = text.indexOf('"');
    while (at >= 0) {
      const end = stringEnd(text, at);
      if (end === 0) {
        this.#outline.push(text.slice(written, at));
        this.#readOpen(text.slice(at));
        return;
      }
      if (end - at > minLength || this.#pieces.length > 0) {
        this.#outline.push(text.slice(written, at));
        this.#readPiece(text.slice(at, end - 1));
        this.#closeLong();
        written = end;
      }
      at = text.indexOf('"', end);
    }
    this.#outline.push(text.slice(written));
  }

  #readOpen(text: string): void {
    if (text.length < minLength) this.#open = text;
    else {
      const end = escapesEnd(text);
      this.#readPiece(text.slice(0, end));
      this.#open = `"${text.slice(end)}`;
    }
  }

  /** Reads a part of a string, which begins with a quote and holds whole escapes. */
  #readPiece(text: string): void {
    try {
      this.#pieces.push(JSON.parse(`${text}"`));
    } catch {
      this.#isInvalid = true;
    }
  }

  #closeLong(): void {
    const pieces = this.#pieces;
    this.#outline.push(`"${markOf(this.#texts.length)}"`);
    // `+=` doesn't copy long strings, as `join` would.
    this.#texts.push({ text: pieces.reduce((text, piece) => text + piece, ''), pieces });
    this.#pieces = [];
  }
}

/** Index after the last whole escape or plain character in a part of a JSON string. */
const escapesEnd = (text: string): number => {
  let last = text.length - 1;
  // The longest escape, `\u0000`, has six characters.
  while (last > text.length - 6 && text[last] !== '\\') last -= 1;
  let first = last;
  while (text[first] === '\\') first -= 1;
  // Backslashes pair up from the first on.
  if ((last - first) % 2 === 0) return text.length;
  const length = text[last + 1] === 'u' ? 6 : 2;
  return last + length > text.length ? last : text.length;
};

/** The value of an outline, with its long strings. */
const restored = (outline: string, texts: LongTexts): Json | undefined => {
  let value: Draft;
  try {
    value = JSON.parse(outline);
  } catch {
    return undefined;
  }
  // A mark that isn't found is a member's name, or a later member of the same name has replaced it.
  return restore(value, texts) ? keepDigits(outline, value) : parseJson(withTexts(outline, texts));
};

/** Replaces the marks in a value. Whether all were found. */
const restore = (root: Draft, texts: LongTexts): boolean => {
  const found = new Set<number>();
  const textOf = (mark: string): string => {
    const index = indexOf(mark);
    found.add(index);
    return texts[index]?.text ?? mark;
  };
  // A stack of its own: an upstream decides how deep the value is.
  const holders: Container[] = texts.length > 0 && isContainer(root) ? [root] : [];
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop()) {
    if (Array.isArray(holder)) {
      for (let index = 0; index < holder.length; index += 1) {
        const member = holder[index];
        if (typeof member === 'string' && isMark(member)) holder[index] = textOf(member);
        else if (isContainer(member)) holders.push(member);
      }
    } else {
      for (const name in holder) {
        const member = holder[name];
        if (typeof member === 'string' && isMark(member)) holder[name] = textOf(member);
        else if (isContainer(member)) holders.push(member);
      }
    }
  }
  return found.size === texts.length;
};

/** The whole JSON text. */
const withTexts = (outline: string, texts: LongTexts): string =>
  [...inOrder(outline)].map((part) => (isMark(part) ? JSON.stringify(texts[indexOf(part)]?.text) : part)).join('');

/** An outline's parts: JSON text, and the marks in it without their quotes. */
function* inOrder(outline: string): Generator<string> {
  const start = `"${prefix}`;
  let from = 0;
  for (let at = outline.indexOf(start); at >= 0; at = outline.indexOf(start, from)) {
    const end = outline.indexOf('"', at + 1);
    yield outline.slice(from, at);
    yield outline.slice(at + 1, end);
    from = end + 1;
  }
  yield outline.slice(from);
}

/**
 * Writes JSON as bytes, the same as `writeJson` writes as text. Yields after each piece of work. `known`: long strings that the value
 * may hold, whose pieces are known.
 */
export function* writeJsonInPieces(value: object, known: LongTexts): Generator<undefined, Uint8Array> {
  const texts: string[] = [];
  const outline = writeJsonSwapping(value, (text) => {
    if (text.length < minLength) return text;
    texts.push(text);
    return markOf(texts.length - 1);
  });
  yield;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (const text of inOrder(outline)) {
    for (const part of isMark(text) ? quoted(texts[indexOf(text)] ?? '', known) : encoded(text)) {
      parts.push(part);
      bytes += part.length;
      if (bytes < sliceLength) continue;
      bytes = 0;
      yield;
    }
  }
  return yield* joined(parts);
}

function* encoded(text: string): Generator<Uint8Array> {
  for (const part of cut(text)) yield Buffer.from(part);
}

/** A long string as JSON. */
function* quoted(text: string, known: LongTexts): Generator<Uint8Array> {
  yield quoteByte;
  let carried = '';
  for (const piece of piecesOf(text, known)) {
    const whole = carried + piece;
    const end = endsInPair(whole, whole.length) ? whole.length - 1 : whole.length;
    carried = whole.slice(end);
    for (const part of cut(whole.slice(0, end))) yield unquoted(part);
  }
  yield unquoted(carried);
  yield quoteByte;
}

const quoteByte = Uint8Array.of(quote);

/** A string's part as JSON, without the quotes. */
const unquoted = (part: string): Uint8Array => Buffer.from(JSON.stringify(part)).subarray(1, -1);

/** Cuts a text into parts that can be written separately. */
function* cut(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const most = from + sliceLength;
    const to = most < text.length && endsInPair(text, most) ? most - 1 : most;
    yield text.slice(from, to);
    from = to;
  }
}

/** Joins bytes, some at a time. */
function* joined(parts: readonly Uint8Array[]): Generator<undefined, Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  let copied = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
    copied += part.length;
    if (copied < copyBytes) continue;
    copied = 0;
    yield;
  }
  return whole;
}
