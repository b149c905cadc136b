import type { ModelRequest } from '../model/request.ts';
import { type Encoder, loadEncoder } from './encoder.ts';
import { promptOf } from './prompt.ts';
import { textPieces } from './text-pieces.ts';

/** Counts the tokens of prompts, in the thread that asks: a megabyte takes some 200 ms. */
export interface TokenCounter {
  /**
   * Tokens of a request: texts, calls, results, thinking and tools counted as today's OpenAI models do, images and documents
   * estimated. Other vendors' own counts of plain text differ, most by less than a fifth, and those that put hidden
   * instructions around tools by some hundred tokens more. Loads the encoding when there is text and nothing is loaded yet.
   */
  readonly count: (request: ModelRequest) => number;
  /** Tokens of one text. */
  readonly countText: (text: string) => number;
}

/** A counter with an encoding of its own. */
export const createTokenCounter = (load: () => Encoder = loadEncoder): TokenCounter => {
  let encoder: Encoder | undefined;
  const countText = (text: string): number => {
    if (text === '') return 0;
    encoder ??= load();
    const encode = encoder;
    return textPieces(text).reduce((sum, piece) => sum + encode(piece), 0);
  };
  return {
    count(request) {
      const { texts, others } = promptOf(request);
      return texts.reduce((sum, text) => sum + countText(text), others);
    },
    countText,
  };
};
