import { colon, comma, openBrace, openBracket, quote } from '../../engine/model/json/json.ts';
import { JsonPosition } from '../../engine/model/json/json-pieces.ts';

/**
 * Finds the start of one member's string value in a JSON object, from arbitrary pieces. Members of nested objects
 * don't count. Invalid JSON is read as far as possible.
 */
export class MemberFinder {
  readonly #name: string;
  readonly #position = new JsonPosition();
  /** A string at this position is a key. */
  #keyDue = false;
  #key = '';

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Returns the index after the opening quote in this piece, or -1 if it isn't there yet. Must not be called after
   * that.
   */
  find(piece: string): number {
    const position = this.#position;
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      const inside = position.inString;
      const opens = code === quote && !inside;
      if (opens && position.depth === 1 && !this.#keyDue && this.#key === this.#name) return at + 1;
      position.read(code);
      if (opens) this.#key = this.#keyDue ? '' : this.#key;
      else if (!inside) this.#readOutside(code);
      else if (this.#keyDue && position.inString) this.#key += piece.charAt(at);
    }
    return -1;
  }

  #readOutside(code: number): void {
    switch (code) {
      case openBrace:
      case openBracket:
      case comma:
        this.#keyDue = this.#position.depth === 1 && code !== openBracket;
        break;
      case colon:
        this.#keyDue = false;
        break;
    }
  }
}
