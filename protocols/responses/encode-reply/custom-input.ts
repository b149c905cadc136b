import { isJsonObject, parseJson, writeJson } from '../../../engine/model/json/json.ts';
import { StringPieces } from '../../../engine/model/json/json-pieces.ts';

/**
 * Unwraps a custom tool's input: the model writes `{"input":"…"}` in arbitrary pieces, and the client reads plain
 * text. JSON of another shape is buffered and handled at the end.
 */
export class CustomInput {
  #stage: 'before' | 'inside' | 'other' = 'before';
  /** All input before the text; all of it if the shape is another. */
  readonly #buffered: string[] = [];
  #heldLength = 0;
  readonly #text = new StringPieces();

  /** Returns the text of this piece of JSON. */
  push(json: string): string {
    if (this.#stage === 'inside') return this.#text.push(json);
    this.#buffered.push(json);
    this.#heldLength += json.length;
    if (this.#stage === 'other') return '';
    const head = this.#buffered.join('');
    const opening = /^\s*\{\s*"input"\s*:\s*"/.exec(head);
    if (opening) {
      this.#stage = 'inside';
      return this.#text.push(head.slice(opening[0].length));
    }
    // Longer input without an opening can't open any more, which bounds the buffer.
    if (!couldOpen(head) || this.#heldLength > maxOpening) this.#stage = 'other';
    return '';
  }

  /** Returns the remaining text at the end of the input. */
  end(): string {
    if (this.#stage === 'inside') return '';
    const json = this.#buffered.join('');
    const value = parseJson(json);
    if (!isJsonObject(value) || value.input === undefined) return json;
    return typeof value.input === 'string' ? value.input : writeJson(value.input);
  }
}

/** Wraps a custom tool's text as JSON. */
export const wrapInput = (text: string): string => JSON.stringify({ input: text });

const maxOpening = 1024;

const couldOpen = (head: string): boolean => {
  const tight = head.replace(/\s+/g, '');
  return '{"input":"'.startsWith(tight);
};
