import { FaultError, type FaultKind } from '../fault.ts';

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. `undefined` members are omitted when it is written. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** A JSON object under construction. */
export interface JsonDraft {
  [key: string]: Json | undefined;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses JSON text; `undefined` for invalid text. Numbers that a double can't hold keep their digits for `writeJson`. */
export const parseJson = (text: string): Json | undefined => {
  try {
    return keepDigits(text, JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** Whether a value is nested at most `levels` deep. Later steps walk values recursively and must not exhaust the stack. */
export const isWithinDepth = (value: Json | undefined, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  // No list of an object's values, which would be garbage: parsed JSON inherits nothing enumerable.
  if (isJsonObject(value)) for (const name in value) if (!isWithinDepth(value[name], levels - 1)) return false;
  if (Array.isArray(value)) for (const member of value) if (!isWithinDepth(member, levels - 1)) return false;
  return true;
};

/*
 * Numbers that a double can't hold exactly, such as 64-bit ids, which `JSON.parse` rounds. The value stays a plain number for code
 * and schemas. The digits are stored per containing object or array, and `writeJson` writes them. A copy of the container loses
 * them.
 */

/** Digits of an object's or array's own numbers, by member or index. Empty if only a nested value has some. */
const digitsOf = new WeakMap<object, Map<string, string>>();

/** Stores the digits of rounded numbers. `value` is the result of `JSON.parse(text)` and is returned. */
export const keepDigits = <T>(text: string, value: T): T => {
  if ((longNumber.test(text) || longExponent.test(text)) && couldLoseDigits.test(text)) new Scan(text).keep(value);
  return value;
};

/** Whether any number inside the value has stored digits. */
export const hasKeptDigits = (value: object): boolean => digitsOf.has(value);

/** Writes JSON as `JSON.stringify` does, but with stored digits. Costs no more than `JSON.stringify` if there are none. */
export const writeJson = (value: object | string | number | boolean | null): string => {
  found = false;
  const text = JSON.stringify(value);
  return found ? writeExactly(value, (same) => same) : text;
};

/** As `writeJson`; `swap` returns what is written in place of a string that is a value. */
export const writeJsonSwapping = (value: object, swap: (text: string) => string): string => {
  found = false;
  const text = JSON.stringify(value, (_, member: unknown) => (typeof member === 'string' ? swap(member) : member));
  return found ? writeExactly(value, swap) : text;
};

/**
 * Matches a number of at least 16 digits or with a three-digit exponent; a double always holds 15 digits. Anchored after the
 * punctuation before a value, so that it doesn't search inside words or base64.
 */
const couldLoseDigits = /[[:,]\s*-?(?:\d[\d.]{15,}|\d[\d.]*[eE][+-]?\d{3})/;

/*
 * What all such numbers contain, for a first search. Each class stands by itself instead of with a count: only then does V8 skip ahead
 * by the pattern's length, which makes the search of a long text several times faster.
 */
const longNumber = /[\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.]/;
const longExponent = /\d[eE][-+\d]\d\d/;

/** Set by `toJSON` of marked values, which `JSON.stringify` calls. */
let found = false;

const marked = {
  value<T>(this: T): T {
    found = true;
    return this;
  },
};

/** Prototypes of objects and arrays with such numbers. An inherited `toJSON` isn't an own member, so nothing else sees it. */
const markedObject: object = Object.create(Object.prototype, { toJSON: marked });
const markedArray: object = Object.create(Array.prototype, { toJSON: marked });

/** Marks an object with an own `toJSON` member, which hides the inherited one: a getter sets the flag. */
const markMember = (holder: object): void => {
  const member: unknown = Reflect.get(holder, 'toJSON');
  const get = (): unknown => {
    found = true;
    return member;
  };
  Object.defineProperty(holder, 'toJSON', { enumerable: true, configurable: true, get });
};

interface Level {
  /** `undefined` if a later member of the same name replaced it. */
  readonly holder: object | undefined;
  readonly isArray: boolean;
  /** The current member or index. */
  key: string;
  count: number;
}

/** Walks valid JSON text and its parsed value in parallel. */
class Scan {
  readonly #text: string;
  readonly #levels: Level[] = [];
  /** Number of marked levels, from the outermost. */
  #marked = 0;

  constructor(text: string) {
    this.#text = text;
  }

  keep(root: unknown): void {
    const text = this.#text;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === quote) at = this.#readString(at);
      else if (code === openBrace || code === openBracket) this.#enter(code === openBracket, root);
      else if (code === closeBrace || code === closeBracket) this.#leave();
      else if (code === comma) this.#next();
      else if (code === minus || isDigit(code)) at = this.#readNumber(at);
    }
  }

  #enter(isArray: boolean, root: unknown): void {
    const outer = this.#levels.at(-1);
    const value = outer ? memberOf(outer) : root;
    const holder = typeof value === 'object' && value !== null && Array.isArray(value) === isArray ? value : undefined;
    this.#levels.push({ holder, isArray, key: isArray ? '0' : '', count: 0 });
  }

  #leave(): void {
    this.#levels.pop();
    this.#marked = Math.min(this.#marked, this.#levels.length);
  }

  #next(): void {
    const level = this.#levels.at(-1);
    if (!level?.isArray) return;
    level.count += 1;
    level.key = String(level.count);
  }

  /** Returns the index of the string's closing quote. A string before a colon is a member name. */
  #readString(start: number): number {
    const text = this.#text;
    const end = stringEnd(text, start);
    const level = this.#levels.at(-1);
    if (level && !level.isArray && text.charCodeAt(skipSpace(text, end)) === colon) {
      const name = text.slice(start + 1, end - 1);
      level.key = name.includes('\\') ? String(JSON.parse(`"${name}"`)) : name;
    }
    return end - 1;
  }

  /** Returns the index of the number's last character. */
  #readNumber(start: number): number {
    const text = this.#text;
    let end = start + 1;
    while (isNumeral(text.charCodeAt(end))) end += 1;
    const level = this.#levels.at(-1);
    if (level?.holder) {
      const digits = text.slice(start, end);
      if (losesDigits(digits)) this.#mark().set(level.key, digits);
      // The last of several members with the same name counts.
      else digitsOf.get(level.holder)?.delete(level.key);
    }
    return end - 1;
  }

  /** Marks all levels and returns the digits of the innermost. */
  #mark(): Map<string, string> {
    let digits = new Map<string, string>();
    // Levels outside the first unmarked one are already marked.
    for (const { holder, isArray } of this.#levels.slice(Math.max(this.#marked - 1, 0))) {
      if (!holder) continue;
      const known = digitsOf.get(holder);
      digits = known ?? new Map();
      if (known) continue;
      digitsOf.set(holder, digits);
      Object.setPrototypeOf(holder, isArray ? markedArray : markedObject);
      if (!isArray && Object.hasOwn(holder, 'toJSON')) markMember(holder);
    }
    this.#marked = this.#levels.length;
    return digits;
  }
}

const memberOf = ({ holder, key }: Level): unknown =>
  holder && Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;

/** Whether a double changes this number. */
const losesDigits = (digits: string): boolean => {
  if (digits.length < 16 && !/[eE]/.test(digits)) return false;
  const double = Number(digits);
  return !Number.isFinite(double) || plainForm(digits) !== plainForm(String(double));
};

/** The normal form of a number: its digits without leading and trailing zeros, and the power of ten. */
const plainForm = (text: string): string => {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let start = 0;
  while (digits.charCodeAt(start) === zero) start += 1;
  if (start === digits.length) return '0';
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === zero) end -= 1;
  return `${digits.slice(start, end)}e${Number(power) - fraction.length + digits.length - end}`;
};

/** As `JSON.stringify` for plain JSON values, with stored digits. */
const writeExactly = (value: unknown, swap: (text: string) => string): string => {
  if (typeof value === 'string') return JSON.stringify(swap(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const digits = digitsOf.get(value);
  const write = (key: string, member: unknown): string => {
    if (member === undefined) return 'null';
    const kept = typeof member === 'number' ? digits?.get(key) : undefined;
    // The value may have changed since.
    return kept !== undefined && Number(kept) === member ? kept : writeExactly(member, swap);
  };
  if (Array.isArray(value)) return `[${value.map((item, index) => write(String(index), item)).join(',')}]`;
  const members = Object.entries<unknown>({ ...value }).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(name, member)}`).join(',')}}`;
};

/** Whether a UTF-16 code unit is a decimal digit. */
export const isDigit = (code: number): boolean => code >= zero && code < zero + 10;

/** A digit, a point, a sign or the letter of an exponent. */
const isNumeral = (code: number): boolean =>
  isDigit(code) || code === 0x2e || code === 0x2b || code === minus || code === 0x65 || code === 0x45;

/** Characters of JSON's syntax, as UTF-16 code units or bytes. */
export const quote = 0x22;
export const comma = 0x2c;
const minus = 0x2d;
export const zero = 0x30;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const letterU = 0x75;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** White space of JSON. Source: RFC 8259, section 2. */
export const isJsonSpace = (code: number | undefined): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Index of the first character that isn't white space. */
export const skipSpace = (text: string, from: number): number => {
  let at = from;
  while (isJsonSpace(text.charCodeAt(at))) at += 1;
  return at;
};

/** Index after the closing quote of the string whose opening quote is at `from`; 0 if the text ends before. */
export const stringEnd = (text: string, from: number): number => {
  let at = text.indexOf('"', from + 1);
  while (at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at + 1;
};

/** Whether an odd number of backslashes precedes a quote. */
const isEscaped = (text: string, at: number): boolean => {
  let from = at;
  while (text.charCodeAt(from - 1) === backslash) from -= 1;
  return (at - from) % 2 === 1;
};

/** From this many bytes of a string on, its end is searched for natively, and nothing else is read. */
const nativeFrom = 192;

/** Reads JSON bytes; those of a `Buffer` are searched faster. */
export class JsonBytes {
  readonly #bytes: Uint8Array;
  readonly #words: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Index of the first byte from `from` on that isn't white space. */
  skipSpace(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (isJsonSpace(bytes[at])) at += 1;
    return at;
  }

  /**
   * Index after the closing quote of the string whose opening quote is at `from`; -1 if the string is invalid: characters and escapes
   * are checked in its first bytes. Reads eight bytes at a time.
   */
  stringEnd(from: number): number {
    const bytes = this.#bytes;
    const words = this.#words;
    const lastPair = bytes.length - 8;
    const native = from + nativeFrom;
    let at = from + 1;
    while (at < bytes.length) {
      if (at >= native) return this.#nativeEnd(at);
      if (at <= lastPair) {
        let special = specialIn(words.getInt32(at, true));
        if (special === 0) {
          at += 4;
          special = specialIn(words.getInt32(at, true));
          if (special === 0) {
            at += 4;
            continue;
          }
        }
        // The lowest bit that is set belongs to the first special byte.
        at += (31 - Math.clz32(special & -special)) >> 3;
      }
      const byte = bytes[at] ?? 0;
      if (byte === quote) return at + 1;
      if (byte < 0x20) return -1;
      at = byte === backslash ? escapeEnd(bytes, at) : at + 1;
      if (at < 0) return -1;
    }
    return -1;
  }

  /** Index after the next quote that isn't escaped; no escape lies across `from`. */
  #nativeEnd(from: number): number {
    const bytes = this.#bytes;
    for (let at = bytes.indexOf(quote, from); at >= 0; at = bytes.indexOf(quote, at + 1)) {
      let slashes = 0;
      while (at - slashes > from && bytes[at - slashes - 1] === backslash) slashes += 1;
      if (slashes % 2 === 0) return at + 1;
    }
    return -1;
  }
}

/**
 * Has the highest bit of the first of the four bytes that is a quote, a backslash or a control character; no lower bit; zero if
 * there is none. Source: Bit Twiddling Hacks, "Determine if a word has a byte less than n".
 */
const specialIn = (word: number): number => {
  const quotes = word ^ 0x22222222;
  const slashes = word ^ 0x5c5c5c5c;
  const found =
    (((word - 0x20202020) | 0) & ~word) |
    (((quotes - 0x01010101) | 0) & ~quotes) |
    (((slashes - 0x01010101) | 0) & ~slashes);
  return found & 0x80808080;
};

/** Index after the escape at `at`; -1 if it is invalid. */
export const escapeEnd = (bytes: Uint8Array, at: number): number => {
  const letter = bytes[at + 1] ?? 0;
  if (letter !== letterU) return plainEscapes[letter] === 1 ? at + 2 : -1;
  for (let digit = at + 2; digit < at + 6; digit += 1) if (hexDigits[bytes[digit] ?? 0] !== 1) return -1;
  return at + 6;
};

/** A lookup table with 1 for each of these characters. */
const tableOf = (characters: string): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, code) => (characters.includes(String.fromCharCode(code)) ? 1 : 0));

const plainEscapes = tableOf('"\\/bfnrt');
const hexDigits = tableOf('0123456789abcdefABCDEF');

/** Types a validated object as `JsonObject`: schemas don't type unmodelled members. */
export const asJsonObject = (value: object): JsonObject => value as JsonObject;

/**
 * Runs `work` and throws a fault of this kind if it exhausts the stack. Values are walked recursively, so a value that is
 * nested too deeply is an error of its sender, not a bug.
 */
export const withinStack = <V>(kind: FaultKind, message: string, work: () => V): V => {
  try {
    return work();
  } catch (error) {
    // Source: V8, `kStackOverflow`. Other range errors are bugs.
    if (error instanceof RangeError && error.message === 'Maximum call stack size exceeded') {
      throw new FaultError({ kind, message }, { cause: error });
    }
    throw error;
  }
};
