import { type Json, type JsonDraft, type JsonObject, parseJson } from './json.ts';

/**
 * Parses the frequent records of one stream for less than `JSON.parse` costs. A vendor writes them all by one template: what
 * differs from one to the next is a text, a count, padding. Two of them that were parsed in full show where; from then on a
 * record is compared with what they have in common, and only what may differ is read. Whatever isn't written alike, to the last
 * character, is not recognised here, and has to be parsed as ever.
 */
export class AlikeRecords<T extends JsonObject> {
  /** The one that served last comes first. */
  readonly #templates: Template<T>[] = [];
  #sample: string | undefined;
  /** How many records were recognised, and how often the template had to be looked for. */
  #hits = 0;
  #searches = 0;

  /**
   * The record's value, exactly as `JSON.parse` gives it, if it is written like those learned from; `undefined` otherwise. It is
   * fit for whatever schema the learned ones are, as long as that asks of their members nothing but types. The value belongs to
   * this object: the next call overwrites it.
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

  /** Learns from a record that wasn't recognised, and that others like it may follow. `value` is what it says; it is kept. */
  learn(data: string, value: T): void {
    if (data.length > mostLength || this.#searches > fewestSearches + this.#hits / leastHits) return;
    const sample = this.#sample;
    this.#sample = data;
    if (sample === undefined || sample === data) return;
    this.#searches += 1;
    const template = findTemplate(sample, data, value);
    if (template === undefined) return;
    if (this.#templates.unshift(template) > mostTemplates) this.#templates.pop();
  }
}

/** Long records are too rare to be learned from, and could be nested too deep to be walked. */
const mostLength = 4096;
const mostGaps = 6;
/** Text, reasoning and arguments may take turns. */
const mostTemplates = 3;
/** A search costs as much as parsing a few records does; a stream whose records have nothing in common isn't searched on and on. */
const fewestSearches = 8;
const leastHits = 8;

/** What records have in common: fixed pieces, with gaps between them for texts and counts. */
class Template<T> {
  /** One more than there are gaps. */
  readonly #pieces: readonly string[];
  readonly #gaps: readonly Gap[];
  readonly #value: T;

  constructor(pieces: readonly string[], gaps: readonly Gap[], value: T) {
    this.#pieces = pieces;
    this.#gaps = gaps;
    this.#value = value;
  }

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
const countEnd = (data: string, start: number): number => {
  let end = start;
  while (isDigit(data.charCodeAt(end))) end += 1;
  const long = end - start > mostDigits;
  return end === start || long || (end - start > 1 && data.charCodeAt(start) === zero) ? -1 : end;
};

const endsInBrace = (data: string): boolean => data.charCodeAt(data.length - 1) === brace;

/** The record without its last brace and the blanks before that, which some vendors pad their records with. */
const endOf = (data: string): number => {
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

/** What two records have in common, the second one's value in its place; `undefined` where that isn't all but texts and counts. */
const findTemplate = <T extends JsonObject>(one: string, other: string, value: T): Template<T> | undefined => {
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
    // The value's members come in the order in which they are written, unless some are numbers or are there twice.
    if (slot === undefined || counterpart === undefined || parseJson(token.text) !== slot.value) return undefined;
    if (token.text === counterpart.text) continue;
    if (slot.owner === undefined || slot.member === '__proto__' || gaps.length === mostGaps) return undefined;
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
  return new Template([...pieces, last], gaps, value);
};

interface Token {
  readonly at: number;
  readonly text: string;
}

/** The strings and numbers of a JSON text, names of members among them. */
const tokensOf = (json: string): readonly Token[] =>
  [...json.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)].map((match) => ({ at: match.index, text: match[0] }));

const isCount = (text: string): boolean => countEnd(text, 0) === text.length;

/** A string or number of a value; where it is a member, rather than a member's name or in an array, whose. */
interface Slot {
  readonly value: string | number;
  readonly owner: JsonDraft | undefined;
  readonly member: string;
}

/** In the order of a text that writes them in their own order. */
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
