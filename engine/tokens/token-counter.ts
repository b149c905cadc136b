import { LRUCache } from 'lru-cache';
import type { ModelRequest } from '../model/request.ts';
import { type Encoder, loadEncoder } from './encoder.ts';
import { promptOf } from './prompt.ts';
import { textPieces } from './text-pieces.ts';

/** Counts the tokens of prompts. */
export interface TokenCounter {
  /**
   * Tokens of a request: texts, calls, results, thinking and tools counted as today's OpenAI models do, images and documents
   * estimated. Other vendors' own counts of plain text differ, most by less than a fifth, and those that put hidden
   * instructions around tools by some hundred tokens more. Loads the encoding when there is text and nothing is loaded yet.
   */
  readonly count: (request: ModelRequest) => number;
  /** Tokens of one text. */
  readonly countText: (text: string) => number;
  /** Loads the encoding now, so that the first request needn't wait for it (about 200 ms). */
  readonly warm: () => void;
}

/** Characters of texts whose counts are remembered, in all: some long conversations' worth, 8 to 16 MB. */
const rememberedCharacters = 8_000_000;

/** Shorter texts are counted faster than they are looked up. */
const minRemembered = 32;

/** A counter with an encoding and a memory of its own: of a growing conversation only what is new is counted. */
export const createTokenCounter = (load: () => Encoder = loadEncoder): TokenCounter => {
  let encoder: Encoder | undefined;
  const remembered = new LRUCache<string, number>({
    maxSize: rememberedCharacters,
    sizeCalculation: (_, text) => text.length,
  });
  const warm = (): Encoder => {
    encoder ??= load();
    return encoder;
  };
  const encode = (text: string): number => {
    const encoding = warm();
    return textPieces(text).reduce((sum, piece) => sum + encoding(piece), 0);
  };
  const countText = (text: string): number => {
    if (text.length < minRemembered) return text === '' ? 0 : encode(text);
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const counted = encode(text);
    remembered.set(text, counted);
    return counted;
  };
  return {
    count(request) {
      const { texts, others } = promptOf(request);
      return texts.reduce((sum, text) => sum + countText(text), others);
    },
    countText,
    warm,
  };
};
