import {
  closeBrace,
  isDigit,
  type Json,
  type JsonDraft,
  type JsonObject,
  parseJson,
  quote,
  stringEnd,
  zero,
} from './json.ts';

/**
 * Parses the frequent records of one stream faster than `JSON.parse`. A vendor writes them all by one template; they differ in
 * a text, a count or padding. Two fully parsed records reveal the template; later records are compared with its fixed pieces,
 * and only the gaps are read. A record that differs in any other character is not recognized and must be parsed in full.
 */
export class DeltaParser<T extends JsonObject> {
  /** Most recently used first. */
  readonly #templates: DeltaTemplate<T>[] = [];
  #sample: string | undefined;
  /** Recognized records, and searches for a template. */
  #hits = 0;
  #searches = 0;

  /**
   * Parses a record that fits a learned template; `undefined` for any other. The value equals that of `JSON.parse` and matches
   * every schema that the learned records match, if the schema only checks types. The next call overwrites the value.
   */
  read(data: string): T | undefined {
    const templates = this.#templates;
    for (let index = 0; index < templates.length; index += 1) {
      const template = templates[index];
      const value = template?.fill(data);
      if (template === undefined || value === undefined) continue;
      this.#hits += 1;
      if (index > 0) {
        templates.splice(index, 1);
        templates.unshift(template);
      }
      return value;
    }
    return undefined;
  }

  /** Learns from a record that wasn't recognized. `value` is its parsed value, which is kept and reused. */
  learn(data: string, value: T): void {
    if (data.length > maxLength || this.#searches > minSearches + this.#hits / minHitsPerSearch) return;
    const sample = this.#sample;
    this.#sample = data;
    if (sample === undefined || sample === data) return;
    this.#searches += 1;
    const template = findTemplate(sample, data, value);
    if (template === undefined) return;
    if (this.#templates.unshift(template) > maxTemplates) this.#templates.pop();
  }
}

/** Longer records are too rare to learn from, and may be nested too deep to walk. In characters. */
const maxLength = 4096;
/** Text, reasoning and arguments may alternate. */
const maxTemplates = 3;
/** A search costs as much as parsing a few records, so searching stops when too few records are recognized. */
const minSearches = 8;
const minHitsPerSearch = 8;

/** The common form of records: fixed pieces with gaps for texts and counts. */
class DeltaTemplate<T> {
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
class Gap {
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
    const end = data.charCodeAt(start) === quote ? stringEnd(data, start) : 0;
    if (end === 0) return -1;
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

/** End of the integer that starts at `start`; -1 if none does. */
const countEnd = (data: string, start: number): number => {
  let end = start;
  while (isDigit(data.charCodeAt(end))) end += 1;
  const long = end - start > maxDigits;
  return end === start || long || (end - start > 1 && data.charCodeAt(start) === zero) ? -1 : end;
};

/** Whether a record ends in a brace, as every template does. */
const endsInBrace = (data: string): boolean => data.charCodeAt(data.length - 1) === closeBrace;

/** End of the record without its last brace and the spaces before it, with which some vendors pad records. */
const endOf = (data: string): number => {
  let end = data.length - 1;
  while (data.charCodeAt(end - 1) === blank) end -= 1;
  return end;
};

const blank = 0x20;
const maxDigits = 15;

const maxGaps = 6;

/** Finds the template of two records; `undefined` if they differ in more than texts and counts. `value`: that of `other`. */
const findTemplate = <T extends JsonObject>(one: string, other: string, value: T): DeltaTemplate<T> | undefined => {
  const tokens = tokensOf(other);
  const counterparts = tokensOf(one);
  const slots = slotsOf(value);
  if (tokens.length !== counterparts.length || tokens.length !== slots.length) return undefined;
  if (!endsInBrace(one) || !endsInBrace(other)) return undefined;
  const pieces: string[] = [];
  const gaps: Gap[] = [];
  let from = 0;
  let fromOne = 0;
  for (const [index, token] of tokens.entries()) {
    const counterpart = counterparts[index];
    const slot = slots[index];
    // Members of the value have the order of the text, except for numeric or repeated names.
    if (slot === undefined || counterpart === undefined || parseJson(token.text) !== slot.value) return undefined;
    if (token.text === counterpart.text) continue;
    if (slot.owner === undefined || slot.member === '__proto__' || gaps.length === maxGaps) return undefined;
    const isText = token.text.startsWith('"');
    if (!isText && !(isCount(token.text) && isCount(counterpart.text))) return undefined;
    const piece = other.slice(from, token.at);
    if (isText !== counterpart.text.startsWith('"') || one.slice(fromOne, counterpart.at) !== piece) return undefined;
    pieces.push(piece);
    gaps.push(new Gap(slot.owner, slot.member, isText));
    from = token.at + token.text.length;
    fromOne = counterpart.at + counterpart.text.length;
  }
  const last = other.slice(from, endOf(other));
  if (gaps.length === 0 || one.slice(fromOne, endOf(one)) !== last) return undefined;
  return new DeltaTemplate([...pieces, last], gaps, value);
};

interface Token {
  readonly at: number;
  readonly text: string;
}

/** The strings and numbers of a JSON text, member names included. */
const tokensOf = (json: string): readonly Token[] =>
  [...json.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)].map((match) => ({ at: match.index, text: match[0] }));

const isCount = (text: string): boolean => countEnd(text, 0) === text.length;

/** A string or number of a value. `owner`: the object it is a member of; `undefined` for member names and array items. */
interface Slot {
  readonly value: string | number;
  readonly owner: JsonDraft | undefined;
  readonly member: string;
}

/** The slots of an object, in the order of its members. */
const slotsOf = (object: JsonObject): readonly Slot[] => {
  const slots: Slot[] = [];
  const walk = (value: Json | undefined, owner: JsonDraft | undefined, member: string): void => {
    if (typeof value === 'string' || typeof value === 'number') slots.push({ value, owner, member });
    else if (isArray(value)) for (const item of value) walk(item, undefined, '');
    else if (typeof value === 'object' && value !== null) {
      for (const name of Object.keys(value)) {
        slots.push({ value: name, owner: undefined, member: '' });
        walk(value[name], value, name);
      }
    }
  };
  walk(object, undefined, '');
  return slots;
};

const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
