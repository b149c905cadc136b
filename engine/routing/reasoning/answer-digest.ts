import { createHash, type Hash } from 'node:crypto';

/** Characters that wait to be digested together: a piece of a stream is too short for a call of its own. */
const waitingChars = 16 << 10;

/**
 * A digest of an answer's text, whose pieces come one by one and aren't kept. Clients may join an answer's parts, and remove the
 * white space at its ends, so neither changes it.
 */
export class AnswerDigest {
  /** Created when it is first needed: only an answer with reasoning is digested, and a long one. */
  #started: Hash | undefined;
  /** Without the white space that the text ends with so far; absent if it ends with none. */
  #trimmed: Hash | undefined;
  #waiting: string[] = [];
  #waitingChars = 0;
  #isEmpty = true;

  add(text: string): void {
    this.#waiting.push(text);
    this.#waitingChars += text.length;
    if (this.#waitingChars >= waitingChars) this.#digest();
  }

  end(): string {
    this.#digest();
    return (this.#trimmed ?? this.#all).digest('base64url');
  }

  get #all(): Hash {
    this.#started ??= createHash('sha256');
    return this.#started;
  }

  #digest(): void {
    const joined = this.#waiting.join('');
    this.#waiting = [];
    this.#waitingChars = 0;
    const text = this.#isEmpty ? joined.trimStart() : joined;
    if (text === '') return;
    this.#isEmpty = false;
    const words = text.trimEnd();
    if (words !== '') {
      this.#update(words);
      this.#trimmed = undefined;
    }
    if (words.length === text.length) return;
    this.#trimmed ??= this.#all.copy();
    this.#update(text.slice(words.length));
  }

  /** Digests the code units, not their encoding: a piece may end within a pair. */
  #update(text: string): void {
    this.#all.update(text, 'utf16le');
  }
}
