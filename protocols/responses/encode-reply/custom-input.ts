import { backslash, isJsonObject, letterU, parseJson, quote, writeJson } from '../../../engine/model/json/json.ts';

/**
 * Unwraps a custom tool's input: the model writes `{"input":"…"}` in arbitrary pieces, and the client reads plain
 * text. JSON of another shape is buffered and handled at the end.
 */
export class CustomInput {
  #stage: 'before' | 'inside' | 'after' | 'other' = 'before';
  /** All input before the text; all of it if the shape is another. */
  readonly #held: string[] = [];
  #heldLength = 0;
  /** An escape that the last piece cut off, from its backslash on. */
  #escape = '';

  /** Returns the text of this piece of JSON. */
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
    // Longer input without an opening can't open any more, which bounds the buffer.
    if (!couldOpen(head) || this.#heldLength > maxOpening) this.#stage = 'other';
    return '';
  }

  /** Returns the remaining text at the end of the input. */
  end(): string {
    if (this.#stage === 'inside' || this.#stage === 'after') return '';
    const json = this.#held.join('');
    const value = parseJson(json);
    if (!isJsonObject(value) || value.input === undefined) return json;
    return typeof value.input === 'string' ? value.input : writeJson(value.input);
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

/** Wraps a custom tool's text as JSON. */
export const wrapInput = (text: string): string => JSON.stringify({ input: text });

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
