import {
  isJsonObject,
  isJsonSpace,
  isWithinDepth,
  type Json,
  type JsonObject,
  openBrace,
  parseJson,
} from './json/json.ts';
import { JsonPosition } from './json/json-pieces.ts';
import { chain, type Machine, runWhole } from './machine.ts';
import { readSseRecords } from './wire/sse.ts';
import type { SseRecord } from './wire/sse-record.ts';

/** A violation of a wire format's rule. */
export interface Violation {
  /** The rule's name, such as `block-order`. */
  readonly rule: string;
  /** The number of the record, from 1; 0: a whole reply. A rule that the end of the stream breaks has the number after the last. */
  readonly record: number;
  /** The member in the record, such as `delta.type`; empty: the record itself. */
  readonly path: string;
  /** The rule's expectation; continues "expected". */
  readonly expected: string;
  /** The value as JSON, shortened; absent: none. */
  readonly got?: string;
}

/** A violation in words, such as `record 3: delta.type: expected a delta of a text block, got "input_json_delta" (delta)`. */
export const sayViolation = ({ rule, record, path, expected, got }: Violation): string => {
  const place = [record > 0 ? `record ${record}` : 'the reply', ...(path === '' ? [] : [path])].join(': ');
  return `${place}: expected ${expected}${got === undefined ? '' : `, got ${got}`} (${rule})`;
};

/** The rules of a wire format's answers. Knows no decoder and no encoder. */
export interface Grammar {
  /** Checks a stream, record by record, up to its end. Takes linear time, and memory that doesn't grow with the texts. */
  readonly stream: Machine<SseRecord, Violation, unknown>;
  /** Checks a whole reply, or an error in place of one. */
  readonly reply: (body: Json) => readonly Violation[];
}

/** The violations in the bytes of a whole answer: one JSON value is a reply, all else is a stream. */
export const violationsIn = (grammar: Grammar, bytes: Uint8Array): readonly Violation[] => {
  const reply = parseJson(new TextDecoder().decode(bytes));
  if (reply === undefined) return runWhole(chain(readSseRecords, grammar.stream), undefined, [bytes]);
  const isListed = Array.isArray(reply) && reply.length === 1;
  return grammar.reply(isListed ? (reply[0] ?? null) : reply);
};

/** A grammar as a state machine. After a violation, the state is that of the nearest answer without it. */
interface GrammarSpec<R extends string, S> {
  readonly initial: () => S;
  readonly record: (state: S, record: SseRecord, check: Check<R>) => void;
  readonly end: (state: S, check: Check<R>) => void;
  readonly reply: (body: JsonObject, check: Check<R>) => void;
}

/** Violations that are told of one answer; the rest of it isn't checked. */
const maxViolations = 50;

/** Blocks, items and calls of one answer that are checked; the rest of it isn't. */
const maxTracked = 2_000;

/** A grammar without the rules that are `left` out: those that a vendor is known to break, or that bind only this gateway's answers. */
export const grammarOf = <R extends string, S>(spec: GrammarSpec<R, S>, left: readonly R[] = []): Grammar => {
  const without: ReadonlySet<R> = new Set(left);
  return {
    stream: {
      start() {
        const check = new Check<R>(without);
        const state = spec.initial();
        return {
          step: (record, out) => check.record(out, () => spec.record(state, record, check)),
          end: (out) => check.record(out, () => spec.end(state, check)),
        };
      },
    },
    reply(body) {
      const check = new Check<R>(without);
      const out: Violation[] = [];
      check.whole(out, () => {
        if (isJsonObject(body)) spec.reply(body, check);
        else check.must(false, undefined, '', 'a JSON object', body);
      });
      return out;
    },
  };
};

/** Collects the violations of one answer. Each method returns what the rest of a check may rely on. */
export class Check<R extends string> {
  readonly #left: ReadonlySet<R>;
  #record = 0;
  #count = 0;
  #tracked = 0;
  #out: Violation[] = [];

  constructor(left: ReadonlySet<R>) {
    this.#left = left;
  }

  /** Checks the next record, or the end. */
  record(out: Violation[], work: () => void): void {
    this.#record += 1;
    this.whole(out, work);
  }

  whole(out: Violation[], work: () => void): void {
    if (this.#count >= maxViolations || this.#tracked > maxTracked) return;
    this.#out = out;
    work();
  }

  /** One more block, item or call. */
  track(): void {
    this.#tracked += 1;
  }

  /** `rule` absent: one of every format, that a reply is an object. */
  must(isKept: boolean, rule: R | undefined, path: string, expected: string, got?: Json): boolean {
    if (isKept || (rule !== undefined && this.#left.has(rule)) || this.#count >= maxViolations) return isKept;
    this.#count += 1;
    const shown = got === undefined ? {} : { got: shownValue(got) };
    const cut = (words: string): string => words.slice(0, maxWords);
    this.#out.push({ rule: rule ?? 'json', record: this.#record, path: cut(path), expected: cut(expected), ...shown });
    return false;
  }

  object(value: Json | undefined, rule: R, path: string): JsonObject {
    const isObject = isJsonObject(value);
    this.must(isObject, rule, path, 'an object', value);
    return isObject ? value : {};
  }

  list(value: Json | undefined, rule: R, path: string): readonly Json[] {
    const isList = Array.isArray(value);
    this.must(isList, rule, path, 'a list', value);
    return isList ? value : [];
  }

  text(value: Json | undefined, rule: R, path: string): string {
    const isText = typeof value === 'string';
    this.must(isText, rule, path, 'a text', value);
    return isText ? value : '';
  }

  /** A text that isn't empty. */
  name(value: Json | undefined, rule: R, path: string): string {
    const isName = typeof value === 'string' && value !== '';
    this.must(isName, rule, path, 'a text that is not empty', value);
    return isName ? value : '';
  }

  count(value: Json | undefined, rule: R, path: string): number {
    const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0;
    this.must(isCount, rule, path, 'a whole number from 0 on', value);
    return isCount ? value : 0;
  }

  /** The object in a record's data. */
  data({ data, outside }: SseRecord, framing: R, rule: R): JsonObject | undefined {
    this.must(outside === undefined, framing, '', 'a record in data: lines', data);
    if (outside === 'text') return undefined;
    const value = parseJson(data);
    this.must(isJsonObject(value), rule, '', 'a JSON object', value ?? data);
    return isJsonObject(value) ? value : undefined;
  }
}

/** Characters of what a violation says: names in it are the vendor's. */
const maxWords = 200;
const maxShown = 80;

/** Levels of a value that are walked: writing and sorting it is recursive. */
const maxDepth = 200;

const shownValue = (value: Json): string => {
  const text = isWithinDepth(value, maxDepth) ? JSON.stringify(value) : '…';
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
};

/** The sum of a text that comes in pieces, wherever it is cut: its length and a hash, since the text may be long. */
export class TextSum {
  #length = 0;
  #hash = 0x811c9dc5;
  #other = 5381;

  add(piece: string): this {
    this.#length += piece.length;
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      this.#hash = Math.imul(this.#hash ^ code, 0x01000193);
      this.#other = (Math.imul(this.#other, 33) + code) | 0;
    }
    return this;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get value(): string {
    return `${this.#length} ${this.#hash} ${this.#other}`;
  }
}

/** Whether a text that comes in pieces is one JSON object, by its braces and strings. */
export class ObjectShape {
  readonly #position = new JsonPosition();
  #state: 'before' | 'inside' | 'whole' | 'broken' = 'before';

  add(piece: string): void {
    for (let at = 0; at < piece.length && this.#state !== 'broken'; at += 1) this.#read(piece.charCodeAt(at));
  }

  get isWhole(): boolean {
    return this.#state === 'whole';
  }

  /** Nothing has come, as for a call without arguments. */
  get isEmpty(): boolean {
    return this.#state === 'before';
  }

  #read(code: number): void {
    if (this.#state !== 'inside') {
      if (isJsonSpace(code)) return;
      this.#state = this.#state === 'before' && code === openBrace ? 'inside' : 'broken';
      if (this.#state === 'broken') return;
    }
    this.#position.read(code);
    if (this.#position.depth <= 0) this.#state = 'whole';
  }
}

/** The sum of a whole text. */
export const sumOf = (text: string): string => new TextSum().add(text).value;

/** The sum of a value, whatever the order of its members. */
export const valueSum = (value: Json | undefined): string =>
  isWithinDepth(value, maxDepth) ? sumOf(JSON.stringify(sorted(value)) ?? '') : 'deep';

const sorted = (value: Json | undefined): Json | undefined => {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
};
