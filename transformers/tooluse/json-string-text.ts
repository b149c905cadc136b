import { backslash, letterU, quote } from '../../engine/model/json/json.ts';
/**
 * Decodes a JSON string after its opening quote, from arbitrary pieces. A quote that the model failed to escape is
 * kept as text, as far as the next characters show it. Text after the string is skipped, and so is half a character
 * or escape at the end.
 */
export class JsonStringText {
  /** Text that needs the next piece: a cut escape, or a quote that may close the string. */
  #rest = '';
  /** A high surrogate that waits for the low one. */
  #half = '';
  #closed = false;

  /** Returns the text of this piece. */
  push(piece: string): string {
    if (this.#closed) return '';
    const text = this.#half + this.#unescape(this.#rest + piece);
    this.#half = '';
    if (!/[\ud800-\udbff]$/.test(text)) return text;
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
        const closes = closesString(json.slice(at, at + maxTail));
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

/** The lookahead after a quote, in UTF-16 units. */
const maxTail = 256;

/**
 * Whether a quote closes the string, by the text after it; `undefined` if more text is needed. It does before another
 * member, and at the end of the object if only the end follows.
 */
const closesString = (tail: string): boolean | undefined => {
  if (/^"\s*,\s*"(?:[^"\\]|\\.)*"\s*:/s.test(tail)) return true;
  const atEnd = /^"[\s}]*$/.test(tail);
  if (tail.length >= maxTail) return atEnd;
  return atEnd || /^"\s*,\s*(?:"(?:[^"\\]|\\.)*(?:\\|"\s*)?)?$/s.test(tail) ? undefined : false;
};

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
const readEscape = (written: string): string =>
  /^\\u[\da-f]{4}$/i.test(written)
    ? String.fromCharCode(Number.parseInt(written.slice(2), 16))
    : (escapes[written.slice(1)] ?? written);
