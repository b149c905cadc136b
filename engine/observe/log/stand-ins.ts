import { Buffer } from 'node:buffer';

/*
 * Stand-ins for the texts of recorded bytes: JSON, streams of it, or anything else. Letters, digits and characters beyond ASCII
 * are replaced one by one, by others that take as many bytes; what a protocol says of itself stays. So chunks keep their sizes,
 * JSON its structure, and pieces of arguments their quotes.
 */

/** Members whose texts are a protocol's own words or ids, which an answer can't be read without. */
const kept = new Set([
  ...['type', 'object', 'role', 'kind', 'step', 'event', 'phase', 'code', 'status', 'finish', 'format', 'encoding'],
  ...['stop_reason', 'finish_reason', 'native_finish_reason', 'finishReason', 'effort', 'tool_choice', 'service_tier'],
  ...['model', 'name', 'provider', 'protocol', 'wire', 'scenario', 'media_type', 'mime_type', 'mimeType', 'detail'],
  ...['id', 'item_id', 'response_id', 'previous_response_id', 'tool_use_id', 'tool_call_id', 'call_id', 'field'],
  ...['required', '$ref', '$schema', 'path', 'method', 'action', 'outcome', 'ended'],
]);

/** Objects whose members are all a user's own, whatever their names are. */
const data = new Set([
  ...['input', 'args', 'arguments', 'metadata', 'classifier_context'],
  ...['const', 'default', 'example', 'examples', 'enum'],
]);

/** Texts that are JSON themselves, often in pieces. Where only the record's type says so, see `isArguments`. */
const nested = new Set(['arguments', 'partial_json']);

const quote = 0x22;
const backslash = 0x5c;

/** Where JSON inside a text has come to, which goes on over the pieces of a stream. */
interface NestedState {
  /** The containers that are open; `true`: an object. */
  readonly open: boolean[];
  inString: boolean;
  escaped: boolean;
  /** The next text, or the current one, is the name of a member, which stays. */
  isName: boolean;
}

/** A container that is open. */
interface Open {
  readonly isObject: boolean;
  /** The name under which its members are judged: of an array, that of the array. */
  readonly name: string;
  readonly isData: boolean;
}

/** The same bytes with stand-ins for their texts. */
export const standIn = (bytes: Uint8Array): Buffer => new Scanner(bytes).run();

/** A text with a stand-in for each letter and digit. */
export const standInText = (text: string): string => {
  const bytes = Buffer.from(text);
  replacePlain(bytes, 0, bytes.length);
  return bytes.toString();
};

class Scanner {
  readonly #bytes: Buffer;
  readonly #nested = new Map<string, NestedState>();
  #open: Open[] = [];
  /** The name of the member whose value comes next. */
  #name = '';
  #type = '';
  #index = '';

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  run(): Buffer {
    const bytes = this.#bytes;
    let at = 0;
    while (at < bytes.length) {
      const byte = bytes[at] ?? 0;
      if (this.#open.length === 0 && isLineStart(bytes, at)) {
        const end = keptLineStart(bytes, at);
        if (end > at) {
          at = end;
          continue;
        }
      }
      if (byte === quote) at = this.#string(at);
      else if (byte === 0x7b || byte === 0x5b) at = this.#enter(at, byte === 0x7b);
      else if (byte === 0x7d || byte === 0x5d) {
        this.#name = this.#open.pop()?.name ?? '';
        at += 1;
      } else if (this.#open.length === 0) at = replaceOne(bytes, at);
      else at = this.#bare(at);
    }
    return bytes;
  }

  #enter(at: number, isObject: boolean): number {
    const outer = this.#open.at(-1);
    const isMember = outer?.isObject ?? false;
    const isData = outer?.isData || (isMember && data.has(this.#name) && (isObject || this.#name !== 'input'));
    this.#open.push({ isObject, name: this.#name, isData: isData ?? false });
    return at + 1;
  }

  /** A number or a word of JSON; the numbers of a user's own data are replaced. */
  #bare(at: number): number {
    const byte = this.#bytes[at] ?? 0;
    if (isDigit(byte)) {
      if (this.#open.at(-1)?.isData) this.#bytes[at] = 0x31;
      else if (this.#name === 'index' || this.#name === 'output_index') this.#index = String.fromCharCode(byte);
    }
    return at + 1;
  }

  #string(start: number): number {
    const bytes = this.#bytes;
    const end = stringEnd(bytes, start);
    const container = this.#open.at(-1);
    let next = end + 1;
    while (bytes[next] === 0x20) next += 1;
    if (container?.isObject && bytes[next] === 0x3a) {
      this.#name = bytes.toString('utf8', start + 1, end);
      return next + 1;
    }
    const name = this.#name;
    if (name === 'type') this.#type = bytes.toString('latin1', start + 1, end);
    if (!container?.isData && this.#isNested(name)) this.#replaceNested(start + 1, end, name);
    else if (container?.isData || !kept.has(name)) replacePlain(bytes, start + 1, end);
    return end + 1;
  }

  #isNested(name: string): boolean {
    return nested.has(name) || (name === 'delta' && /arguments|input_json/.test(this.#type));
  }

  /** Replaces what is inside the quotes of the JSON that a text is, and of numbers the digits. */
  #replaceNested(start: number, end: number, name: string): void {
    const key = `${name} ${this.#index}`;
    const state = this.#nested.get(key) ?? { open: [], inString: false, escaped: false, isName: false };
    this.#nested.set(key, state);
    const bytes = this.#bytes;
    let at = start;
    while (at < end) {
      const from = at;
      const isEscape = bytes[at] === backslash;
      const byte = isEscape ? escapedByte(bytes[at + 1] ?? 0) : (bytes[at] ?? 0);
      if (isEscape) at += bytes[at + 1] === 0x75 ? 6 : 2;
      else at += characterBytes(byte);
      if (state.escaped) {
        state.escaped = false;
        continue;
      }
      if (state.inString) {
        if (byte === backslash) state.escaped = true;
        else if (byte === quote) state.inString = false;
        else if (!state.isName) replacePlain(bytes, from, Math.min(at, end));
      } else if (byte === quote) state.inString = true;
      else if (isDigit(byte)) bytes[from] = 0x31;
      // Outside quotes, JSON has three words.
      else if (!punctuate(state, byte) && (state.open.length === 0 || !isJsonWord(byte)))
        replacePlain(bytes, from, Math.min(at, end));
    }
  }
}

/** Goes on over a character of JSON's own; whether it is one. */
const punctuate = (state: NestedState, byte: number): boolean => {
  const character = String.fromCharCode(byte);
  if (character === '{' || character === '[') state.open.push(character === '{');
  else if (character === '}' || character === ']') state.open.pop();
  else if (character !== ',' && character !== ':') return false;
  state.isName = (character === '{' || character === ',') && (state.open.at(-1) ?? false);
  return true;
};

const isJsonWord = (byte: number): boolean => 'truefalsn'.includes(String.fromCharCode(byte));

/** The character that an escape stands for, where that matters: a quote, a backslash. */
const escapedByte = (letter: number): number => (letter === quote || letter === backslash ? letter : 0x20);

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** The position of a string's closing quote, or the end of what there is. */
const stringEnd = (bytes: Buffer, start: number): number => {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return Math.min(at, bytes.length);
};

const isLineStart = (bytes: Buffer, at: number): boolean =>
  at === 0 || bytes[at - 1] === 0x0a || bytes[at - 1] === 0x0d;

/** Fields of server-sent events whose value is a protocol's word, and comments. */
const fields = ['event:', 'id:', 'retry:', ':'];

/** The end of what stays of a line of server-sent events: its field's name, or all of it. */
const keptLineStart = (bytes: Buffer, at: number): number => {
  const start = bytes.toString('latin1', at, at + 6);
  if (start.startsWith('data:')) return at + 'data:'.length;
  if (!fields.some((field) => start.startsWith(field))) return at;
  let end = at;
  while (end < bytes.length && bytes[end] !== 0x0a && bytes[end] !== 0x0d) end += 1;
  return end;
};

/** Replaces the characters from `start` to `end`; escapes of JSON stay escapes. */
const replacePlain = (bytes: Buffer, start: number, end: number): void => {
  let at = start;
  while (at < end) {
    if (bytes[at] !== backslash) at = replaceOne(bytes, at, end);
    else if (bytes[at + 1] === 0x75 && at + 6 <= end) {
      bytes.write('0078', at + 2, 'latin1');
      at += 6;
    } else at += 2;
  }
};

const characterBytes = (first: number): number => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);

/** By the number of their bytes. */
const beyondAscii = ['', '', 'é', '中', '😀'];

/** Replaces one character; returns the position of the next. */
const replaceOne = (bytes: Buffer, at: number, end = bytes.length): number => {
  const byte = bytes[at] ?? 0;
  if (byte >= 0x61 && byte <= 0x7a) bytes[at] = 0x78;
  else if (byte >= 0x41 && byte <= 0x5a) bytes[at] = 0x58;
  else if (isDigit(byte)) bytes[at] = 0x30;
  const length = characterBytes(byte);
  if (length > 1 && at + length <= end) bytes.write(beyondAscii[length] ?? '', at);
  return at + length;
};
