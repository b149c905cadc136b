/**
 * The text of a JSON string from behind its opening quote, as its pieces come, cut anywhere. A quote that the model forgot to
 * escape is text, as far as what follows shows it; what comes behind the string is skipped, and so is
 * half a character or escape at the end.
 */
export class JsonStringText {
  /** What can't be read without the next piece: a cut escape, or a quote of which it isn't known whether it closes. */
  #rest = '';
  /** The first half of a character whose second half is still to come. */
  #half = '';
  #closed = false;

  /** The text that this piece brings. */
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

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;

/** How far behind a quote is looked, in UTF-16 units. */
const maxTail = 256;

/**
 * Whether a quote closes the string, by what stands behind it; `undefined` when that can't be told yet. It does before another
 * member, and at the end of the object if nothing but the end follows.
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

/** What JSON has no such escape for stays as it is written. */
const readEscape = (written: string): string =>
  /^\\u[\da-f]{4}$/i.test(written)
    ? String.fromCharCode(Number.parseInt(written.slice(2), 16))
    : (escapes[written.slice(1)] ?? written);
