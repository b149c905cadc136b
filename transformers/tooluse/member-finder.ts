/**
 * Finds the start of one member's string value in a JSON object, from arbitrary pieces. Members of nested objects
 * don't count. Invalid JSON is read as far as possible.
 */
export class MemberFinder {
  readonly #name: string;
  #depth = 0;
  #inString = false;
  #escaped = false;
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
    for (let at = 0; at < piece.length; at += 1) {
      const letter = piece.charAt(at);
      if (this.#inString) this.#readString(letter);
      else if (letter !== '"') this.#readOutside(letter);
      else if (this.#depth === 1 && !this.#keyDue && this.#key === this.#name) return at + 1;
      else {
        this.#inString = true;
        if (this.#keyDue) this.#key = '';
      }
    }
    return -1;
  }

  #readString(letter: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (letter === '\\') this.#escaped = true;
    else if (letter === '"') {
      this.#inString = false;
      return;
    }
    if (this.#keyDue) this.#key += letter;
  }

  #readOutside(letter: string): void {
    switch (letter) {
      case '{':
      case '[':
        this.#depth += 1;
        this.#keyDue = this.#depth === 1 && letter === '{';
        break;
      case '}':
      case ']':
        this.#depth -= 1;
        break;
      case ',':
        this.#keyDue = this.#depth === 1;
        break;
      case ':':
        this.#keyDue = false;
        break;
    }
  }
}
