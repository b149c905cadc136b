import { type JsonDraft, parseJson } from './json.ts';

/** What records have in common: fixed pieces, with gaps between them for texts and counts. */
export class RecordTemplate<T> {
  /** One more than there are gaps. */
  readonly #pieces: readonly string[];
  readonly #gaps: readonly Gap[];
  readonly #value: T;

  constructor(pieces: readonly string[], gaps: readonly Gap[], value: T) {
    this.#pieces = pieces;
    this.#gaps = gaps;
    this.#value = value;
  }

  /** The value with what this record has in the gaps; `undefined` for one that is written otherwise. */
  fill(data: string): T | undefined {
    const pieces = this.#pieces;
    const gaps = this.#gaps;
    let from = 0;
    for (let index = 0; index < gaps.length; index += 1) {
      const piece = pieces[index] ?? '';
      const gap = gaps[index];
      const start = from + piece.length;
      // Comparing a slice takes a fraction of what `startsWith` does.
      if (gap === undefined || data.slice(from, start) !== piece) return undefined;
      from = gap.read(data, start);
      if (from < 0) return undefined;
    }
    if (!endsInBrace(data) || data.slice(from, endOf(data)) !== pieces[gaps.length]) return undefined;
    for (const gap of gaps) gap.fill();
    return this.#value;
  }
}

/** A place where records differ, and the member of the value that it stands for. */
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

  /** Reads the value that begins here. Where it ends; -1 when there is none that fits. */
  read(data: string, start: number): number {
    return this.#isText ? this.#readText(data, start) : this.#readCount(data, start);
  }

  /** Only once the whole record has turned out to be alike: parts of the value may be in use. */
  fill(): void {
    this.#owner[this.#member] = this.#next;
  }

  #readText(data: string, start: number): number {
    const end = textEnd(data, start);
    if (end < 0) return -1;
    // A piece this short is copied when it is cut out, so it doesn't keep alive all that came with it.
    const plain = end - start <= shortText ? data.slice(start + 1, end - 1) : undefined;
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

/** Of a text in quotes. Source: V8, `SlicedString::kMinLength`. */
const shortText = 14;
/** What stands for itself between quotes. Source: RFC 8259, section 7. */
const isPlain = /^[ !#-[\]-\uffff]*$/;

/** Behind the text that begins here; -1 when none does. */
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

/** Behind the count that begins here; -1 when none does. */
export const countEnd = (data: string, start: number): number => {
  let end = start;
  while (isDigit(data.charCodeAt(end))) end += 1;
  const long = end - start > mostDigits;
  return end === start || long || (end - start > 1 && data.charCodeAt(start) === zero) ? -1 : end;
};

/** Whether the record can be told by a template at all. */
export const endsInBrace = (data: string): boolean => data.charCodeAt(data.length - 1) === brace;

/** The record without its last brace and the blanks before that, which some vendors pad their records with. */
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
const mostDigits = 15;

const isDigit = (code: number): boolean => code >= zero && code < zero + 10;
