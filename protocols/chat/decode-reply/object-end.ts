import {
  backslash,
  closeBrace,
  closeBracket,
  isJsonObject,
  isJsonSpace,
  openBrace,
  openBracket,
  parseJson,
  quote,
} from '../../../engine/model/json/json.ts';

/**
 * Detects when pieces of text form a complete JSON object. Each piece is scanned once, and the text is parsed once,
 * when its braces balance.
 */
export class ObjectEnd {
  /** Pieces scanned so far. */
  #read = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #state: 'open' | 'whole' | 'broken' = 'open';

  /** `pieces` are those of the previous call plus new ones. */
  isWhole(pieces: readonly string[]): boolean {
    for (; this.#read < pieces.length; this.#read += 1) this.#readPiece(pieces[this.#read] ?? '', pieces);
    return this.#state === 'whole';
  }

  #readPiece(piece: string, pieces: readonly string[]): void {
    if (this.#state === 'broken') return;
    if (this.#state === 'whole') {
      if (piece.trim() !== '') this.#state = 'broken';
      return;
    }
    for (let at = 0; at < piece.length; at += 1) {
      this.#readLetter(piece.charCodeAt(at));
      if (this.#depth > 0 || isJsonSpace(piece.charCodeAt(at))) continue;
      // Only white space may follow the end.
      const text = [...pieces.slice(0, this.#read), piece].join('');
      this.#state = isJsonObject(parseJson(text)) ? 'whole' : 'broken';
      return;
    }
  }

  #readLetter(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (this.#inString) {
      if (code === backslash) this.#escaped = true;
      else if (code === quote) this.#inString = false;
    } else if (code === quote) this.#inString = true;
    else if (code === openBrace || code === openBracket) this.#depth += 1;
    else if (code === closeBrace || code === closeBracket) this.#depth -= 1;
  }
}
