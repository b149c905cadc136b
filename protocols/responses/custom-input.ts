import { isJsonObject, parseJson } from '../../engine/model/json.ts';

/**
 * Unwraps a custom tool's input: the model writes `{"input":"…"}`, which comes in pieces cut anywhere, and the client wants
 * the bare text as it arrives. JSON of another shape is held back and judged at the end.
 */
export class CustomInput {
  #stage: 'before' | 'inside' | 'after' | 'other' = 'before';
  /** All that came before the text began; all there is when the shape is another. */
  readonly #held: string[] = [];
  #heldLength = 0;
  /** An escape that the last piece cut off, from its backslash on. */
  #escape = '';

  /** The text that this piece of JSON brings. */
  push(json: string): string {
    if (this.#stage === 'inside') return this.#unescape(json);
    if (this.#stage === 'after') return '';
    this.#held.push(json);
    this.#heldLength += json.length;
    if (this.#stage === 'other') return '';
    const head = this.#held.join('');
    const opening = /^\s*\{\s*"input"\s*:\s*"/.exec(head);
    if (opening) {
      this.#stage = 'inside';
      return this.#unescape(head.slice(opening[0].length));
    }
    // White space aside, no opening is longer; so what is held stays short until the shape is known.
    if (!couldOpen(head) || this.#heldLength > maxOpening) this.#stage = 'other';
    return '';
  }

  /** The text still owed once the input has ended. */
  end(): string {
    if (this.#stage === 'inside' || this.#stage === 'after') return '';
    const json = this.#held.join('');
    const value = parseJson(json);
    if (!isJsonObject(value) || value.input === undefined) return json;
    return typeof value.input === 'string' ? value.input : JSON.stringify(value.input);
  }

  #unescape(piece: string): string {
    const text = this.#escape + piece;
    this.#escape = '';
    const out: string[] = [];
    let from = 0;
    for (let at = from; at < text.length; ) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.#stage = 'after';
        out.push(text.slice(from, at));
        return out.join('');
      }
      if (code !== backslash) {
        at += 1;
        continue;
      }
      out.push(text.slice(from, at));
      const length = text.charCodeAt(at + 1) === letterU ? 6 : 2;
      if (at + length > text.length) {
        this.#escape = text.slice(at);
        return out.join('');
      }
      out.push(readEscape(text.slice(at, at + length)));
      at += length;
      from = at;
    }
    out.push(text.slice(from));
    return out.join('');
  }
}

/** A custom tool's input of this text, as JSON. */
export const wrapInput = (text: string): string => JSON.stringify({ input: text });

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
const maxOpening = 1024;

const couldOpen = (head: string): boolean => {
  const tight = head.replace(/\s+/g, '');
  return '{"input":"'.startsWith(tight);
};

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const readEscape = (written: string): string => {
  const letter = written.charAt(1);
  if (letter !== 'u') return escapes[letter] ?? letter;
  const code = Number.parseInt(written.slice(2), 16);
  return Number.isNaN(code) ? written : String.fromCharCode(code);
};
