import { backslash, closeBrace, closeBracket, letterU, openBrace, openBracket, quote } from './json.ts';

/** The position in JSON text after the characters so far. Invalid JSON is read as far as possible. */
export class JsonPosition {
  /** Objects and lists that are open. */
  depth = 0;
  inString = false;
  #escaped = false;

  /** Reads the next UTF-16 code unit. */
  read(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === quote) this.inString = !this.inString;
    else if (this.inString) this.#escaped = code === backslash;
    else if (code === openBrace || code === openBracket) this.depth += 1;
    else if (code === closeBrace || code === closeBracket) this.depth -= 1;
  }
}

/**
 * Decodes a JSON string after its opening quote, from arbitrary pieces. Invalid escapes are kept as written. Text after the string is
 * skipped, and so is half a character or escape at the end.
 */
export class StringPieces {
  readonly #closes: (tail: string) => boolean | undefined;
  /** Text that needs the next piece: a cut escape, or a quote that may close the string. */
  #rest = '';
  /** A high surrogate that waits for the low one. */
  #half = '';
  #closed = false;

  /** `closes`: whether the quote at the start of a text closes the string; `undefined` if more text is needed. */
  constructor(closes: (tail: string) => boolean | undefined = () => true) {
    this.#closes = closes;
  }

  /** Returns the text of this piece. */
  push(piece: string): string {
    if (this.#closed) return '';
    const text = this.#half + this.#unescape(this.#rest + piece);
    this.#half = '';
    if (!endsInPair(text, text.length)) return text;
    this.#half = text.slice(-1);
    return text.slice(0, -1);
  }

  #unescape(json: string): string {
    this.#rest = '';
    const out: string[] = [];
    let from = 0;
    let at = 0;
    while (at < json.length) {
      const code = json.charCodeAt(at);
      if (code === quote) {
        const closes = this.#closes(json.slice(at, at + maxTail));
        if (closes === false) {
          at += 1;
          continue;
        }
        if (closes === undefined) this.#rest = json.slice(at);
        else this.#closed = true;
        break;
      }
      if (code !== backslash) {
        at += 1;
        continue;
      }
      out.push(json.slice(from, at));
      const length = json.charCodeAt(at + 1) === letterU ? 6 : 2;
      if (at + length > json.length) {
        this.#rest = json.slice(at);
        return out.join('');
      }
      out.push(readEscape(json.slice(at, at + length)));
      at += length;
      from = at;
    }
    out.push(json.slice(from, at));
    return out.join('');
  }
}

/** Whether a cut may separate two surrogates. Alone, each would be written as an escape. */
export const endsInPair = (text: string, at: number): boolean => (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

/** The most of a text that tells whether a quote closes the string, in UTF-16 code units. */
export const maxTail = 256;

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Keeps an invalid escape as written. */
const readEscape = (written: string): string => {
  if (written.length === 2) return escapes[written.slice(1)] ?? written;
  return /^\\u[\da-f]{4}$/i.test(written) ? String.fromCharCode(Number.parseInt(written.slice(2), 16)) : written;
};
