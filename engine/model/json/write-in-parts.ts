import { Buffer } from 'node:buffer';
import { BytePieces } from '../call-body.ts';
import { hasKeptDigits, type Json, type JsonObject, writeJson } from './json.ts';

/*
 * The counterpart of `read-in-parts.ts`: the bytes of a large object, without a text of all of it. Its lists are written some elements
 * at a time.
 */

/** Characters of a part, unless one element is longer. Two bytes each, they take less than V8's 128 KiB. */
const partChars = 48 * 1024;

/** Writes an object as `writeJson` does, in UTF-8. */
export const writeInParts = (object: JsonObject): BytePieces => {
  // They are kept for all that is around them.
  if (hasKeptDigits(object)) return new BytePieces([Buffer.from(writeJson(object))]);
  const parts = new Parts();
  let before = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    parts.add(`${before}${JSON.stringify(name)}:`);
    before = ',';
    if (isList(member)) writeList(parts, member);
    else parts.add(writeJson(member));
  }
  parts.add(before === '{' ? '{}' : '}');
  return parts.end();
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

const writeList = (parts: Parts, list: readonly Json[]): void => {
  let before = '[';
  for (const element of list) {
    parts.add(before);
    parts.add(writeJson(element));
    before = ',';
  }
  parts.add(before === '[' ? '[]' : ']');
};

/** Collects text, and turns it into bytes before it is long. */
class Parts {
  readonly #pieces: Buffer[] = [];
  #text = '';

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= partChars) this.#encode();
  }

  end(): BytePieces {
    this.#encode();
    return new BytePieces(this.#pieces);
  }

  #encode(): void {
    if (this.#text !== '') this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
  }
}
