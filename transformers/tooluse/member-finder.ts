/**
 * Finds where the string value of one member of a JSON object begins, in text that comes in pieces cut anywhere. Members of
 * inner objects don't count. Broken JSON is read as far as it goes.
 */
export class MemberFinder {
  readonly #name: string;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** A string at this place is a key. */
  #keyDue = false;
  #key = '';

  constructor(name: string) {
    this.#name = name;
  }

  /** The index in this piece just behind the opening quote; -1 while it hasn't come. Not to be called again after that. */
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
