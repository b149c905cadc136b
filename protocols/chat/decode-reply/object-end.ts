import { isJsonObject, isJsonSpace, parseJson } from '../../../engine/model/json/json.ts';
import { JsonPosition } from '../../../engine/model/json/json-pieces.ts';

/**
 * Detects when pieces of text form a complete JSON object. Each piece is scanned once, and the text is parsed once,
 * when its braces balance.
 */
export class ObjectEnd {
  /** Pieces scanned so far. */
  #read = 0;
  readonly #position = new JsonPosition();
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
      const code = piece.charCodeAt(at);
      this.#position.read(code);
      if (this.#position.depth > 0 || isJsonSpace(code)) continue;
      // Only white space may follow the end.
      const text = [...pieces.slice(0, this.#read), piece].join('');
      this.#state = isJsonObject(parseJson(text)) ? 'whole' : 'broken';
      return;
    }
  }
}
