import { type JsonDraft, parseJson } from './json.ts';

/** The common form of records: fixed pieces with gaps for texts and counts. */
export class DeltaTemplate<T> {
  /** One more than gaps. */
  readonly #pieces: readonly string[];
  readonly #gaps: readonly Gap[];
  readonly #value: T;

  constructor(pieces: readonly string[], gaps: readonly Gap[], value: T) {
    this.#pieces = pieces;
    this.#gaps = gaps;
    this.#value = value;
  }

  /** Fills the value with the record's gaps; `undefined` if the record doesn't fit. */
  fill(data: string): T | undefined {
    const pieces = this.#pieces;
    const gaps = this.#gaps;
    let from = 0;
    for (let index = 0; index < gaps.length; index += 1) {
      const piece = pieces[index] ?? '';
      const gap = gaps[index];
      const start = from + piece.length;
      // Comparing a slice is several times faster than `startsWith`.
      if (gap === undefined || data.slice(from, start) !== piece) return undefined;
      from = gap.read(data, start);
      if (from < 0) return undefined;
    }
    if (!endsInBrace(data) || data.slice(from, endOf(data)) !== pieces[gaps.length]) return undefined;
    for (const gap of gaps) gap.fill();
    return this.#value;
  }
}

/** A position where records differ, and the member of the value to fill. */
export class Gap {
  readonly #owner: JsonDraft;
  readonly #member: string;
  readonly #isText: boolean;
  #next: string | number = '';

  constructor(owner: JsonDraft, member: string, isText: boolean) {
    this.#owner = owner;
    this.#member = member;
    this.#isText = isText;
  }

  /** Reads the value at `start` and returns its end; -1 if there is none that fits. */
  read(data: string, start: number): number {
    return this.#isText ? this.#readText(data, start) : this.#readCount(data, start);
  }

  /** Stores the value that was read. Called only once the whole record fits, since the value may be in use. */
  fill(): void {
    this.#owner[this.#member] = this.#next;
  }

  #readText(data: string, start: number): number {
    const end = textEnd(data, start);
    if (end < 0) return -1;
    // A slice this short is a copy, so it doesn't keep the whole chunk in memory.
    const plain = end - start <= maxCopied ? data.slice(start + 1, end - 1) : undefined;
    const text = plain !== undefined && isPlain.test(plain) ? plain : parseJson(data.slice(start, end));
    if (typeof text !== 'string') return -1;
    this.#next = text;
    return end;
  }

  #readCount(data: string, start: number): number {
    const end = countEnd(data, start);
    let count = 0;
    for (let at = start; at < end; at += 1) count = count * 10 + data.charCodeAt(at) - zero;
    this.#next = count;
    return end;
  }
}

/** Length of a text with its quotes. Source: V8, `SlicedString::kMinLength`. */
const maxCopied = 14;
/** Text without escapes. Source: RFC 8259, section 7. */
const isPlain = /^[ !#-[\]-\uffff]*$/;

/** End of the string that starts at `start`; -1 if none does. */
const textEnd = (data: string, start: number): number => {
  if (data.charCodeAt(start) !== quote) return -1;
  let end = data.indexOf('"', start + 1);
  while (end > 0 && isEscaped(data, end)) end = data.indexOf('"', end + 1);
  return end < 0 ? -1 : end + 1;
};

const isEscaped = (data: string, at: number): boolean => {
  let from = at;
  while (data.charCodeAt(from - 1) === backslash) from -= 1;
  return (at - from) % 2 === 1;
};

/** End of the integer that starts at `start`; -1 if none does. */
export const countEnd = (data: string, start: number): number => {
  let end = start;
  while (isDigit(data.charCodeAt(end))) end += 1;
  const long = end - start > maxDigits;
  return end === start || long || (end - start > 1 && data.charCodeAt(start) === zero) ? -1 : end;
};

/** Whether a record ends in a brace, as every template does. */
export const endsInBrace = (data: string): boolean => data.charCodeAt(data.length - 1) === brace;

/** End of the record without its last brace and the spaces before it, with which some vendors pad records. */
export const endOf = (data: string): number => {
  let end = data.length - 1;
  while (data.charCodeAt(end - 1) === blank) end -= 1;
  return end;
};

const quote = 0x22;
const backslash = 0x5c;
const zero = 0x30;
const blank = 0x20;
const brace = 0x7d;
const maxDigits = 15;

const isDigit = (code: number): boolean => code >= zero && code < zero + 10;
