import { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import type { ModelRequest } from '../model/request.ts';
import { leastTokens } from './least-tokens.ts';
import { mediaTokens, promptOf } from './prompt.ts';

/** A prompt's tokens, as far as they are known. */
export interface PromptSize {
  readonly tokens: number;
  /**
   * Counted; or a bound, from below for what is above the threshold, from above for what is not; or an estimate, where the texts
   * could not be counted.
   */
  readonly by: 'count' | 'bound' | 'estimate';
}

/** What is known of the tokens of prompts, and how to know more. */
export interface PromptTokens {
  /**
   * Tokens of a request, found without counting: exact, or a bound that lies on the same side of `threshold` as the count. It
   * is `undefined` where only a count can tell. `bodyBytes` is the length of the body that the request was read from.
   */
  readonly sizeBeside: (request: ModelRequest, threshold: number, bodyBytes: number) => PromptSize | undefined;
  /** Tokens of a request. Where they can't be counted just now they are estimated. */
  readonly count: (request: ModelRequest) => Promise<PromptSize>;
}

/** Counts texts one by one, somewhere. */
export interface TextCounting {
  /** Tokens of each text; rejects when they can't be counted just now. */
  readonly count: (texts: readonly string[]) => Promise<readonly number[]>;
  /** A count is likely to be asked for soon. */
  readonly warm: () => void;
}

/** Characters of texts whose counts are remembered, in all: some long conversations' worth, 8 to 16 MB. */
const rememberedCharacters = 8_000_000;
/** What remembering one text takes beside its characters. */
const overheadCharacters = 100;
/** A number in JSON may become longer when it is written anew (`1e20`), and its digits have a token for every three. */
const tokensPerByte = 2;
/** As a rule of thumb. */
const bytesPerToken = 4;
const bytesPerWord = 6;

/** Tokens that the texts have at least, beside `others`; looks no further once they are more than the threshold. */
const leastOf = (texts: readonly string[], others: number, threshold: number): number => {
  let least = others;
  for (const text of texts) {
    least += leastTokens(text);
    if (least > threshold) break;
  }
  return least;
};

/** Counts are remembered by text: of a growing conversation only what is new is counted. */
export const createPromptTokens = (counting: TextCounting): PromptTokens => {
  const remembered = new LRUCache<string, number>({
    maxSize: rememberedCharacters,
    sizeCalculation: (_, text) => text.length + overheadCharacters,
  });
  return {
    sizeBeside(request, threshold, bodyBytes) {
      const bound = mediaTokens(request) + bodyBytes * tokensPerByte;
      if (bound <= threshold) return { tokens: bound, by: 'bound' };
      const { texts, others } = promptOf(request);
      // Words are counted faster than texts are looked up, so what is long beyond doubt is seen by them alone.
      if (bodyBytes > threshold * bytesPerWord) {
        const words = leastOf(texts, others, threshold);
        if (words > threshold) return { tokens: words, by: 'bound' };
      }
      let least = others;
      let most = others;
      for (const text of texts) {
        const known = remembered.get(text);
        most += known ?? Buffer.byteLength(text);
        least += known ?? 0;
      }
      if (most <= threshold) {
        if (most > threshold / 2) counting.warm();
        return { tokens: most, by: least === most ? 'count' : 'bound' };
      }
      for (const text of texts) {
        if (least > threshold) return { tokens: least, by: 'bound' };
        if (!remembered.has(text)) least += leastTokens(text);
      }
      return least > threshold ? { tokens: least, by: least === most ? 'count' : 'bound' } : undefined;
    },

    async count(request) {
      const { texts, others } = promptOf(request);
      let tokens = others;
      const missing: string[] = [];
      for (const text of texts) {
        const known = remembered.get(text);
        if (known === undefined) missing.push(text);
        else tokens += known;
      }
      if (missing.length === 0) return { tokens, by: 'count' };
      try {
        for (const [index, counted] of (await counting.count(missing)).entries()) {
          tokens += counted;
          remembered.set(missing[index] ?? '', counted);
        }
        return { tokens, by: 'count' };
      } catch {
        const bytes = missing.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
        return { tokens: tokens + Math.ceil(bytes / bytesPerToken), by: 'estimate' };
      }
    },
  };
};

/** Counts every prompt in the thread that asks; for commands and tests. */
export const countedHere = (count: (request: ModelRequest) => number): PromptTokens => ({
  sizeBeside: (request) => ({ tokens: count(request), by: 'count' }),
  count: async (request) => ({ tokens: count(request), by: 'count' }),
});
