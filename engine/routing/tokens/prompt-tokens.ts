import { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import type { ModelRequest } from '../../model/request.ts';
import { tokenLowerBound } from './estimate.ts';
import { mediaTokens, promptOf } from './prompt.ts';

/** A prompt's tokens: exact, bounded or estimated. */
export interface PromptSize {
  readonly tokens: number;
  /** `bound`: a lower bound above the threshold, or an upper bound below it. `estimate`: the texts couldn't be counted. */
  readonly by: 'count' | 'bound' | 'estimate';
}

/** Finds the token counts of prompts. */
export interface PromptTokens {
  /**
   * Tokens of a request, found without counting: exact, or a bound on the same side of `threshold` as the count. `undefined` if
   * only a count can decide. `bodyBytes` is the length of the request's body.
   */
  readonly sizeBeside: (request: ModelRequest, threshold: number, bodyBytes: number) => PromptSize | undefined;
  /** Counts a request's tokens, or estimates them if counting fails. */
  readonly count: (request: ModelRequest) => Promise<PromptSize>;
}

/** Counts texts, for example in a thread. */
export interface TextCounting {
  /** Tokens of each text; rejects if counting fails. */
  readonly count: (texts: readonly string[]) => Promise<readonly number[]>;
  /** Prepares for a count that is likely soon. */
  readonly warm: () => void;
}

/** Characters of all texts whose counts are cached: some long conversations, 8 to 16 MB. */
const cachedCharacters = 8_000_000;
/** The overhead of a cached text, in characters. */
const overheadCharacters = 100;
/** An upper bound: a number in JSON may become longer when rewritten (`1e20`), and three digits are a token. */
const tokensPerByte = 2;
/** Rules of thumb. */
const bytesPerToken = 4;
const bytesPerWord = 6;

/** Caches counts by text, so that only the new texts of a growing conversation are counted. */
export const createPromptTokens = (counting: TextCounting): PromptTokens => {
  const cached = new LRUCache<string, number>({
    maxSize: cachedCharacters,
    sizeCalculation: (_, text) => text.length + overheadCharacters,
  });
  return {
    sizeBeside(request, threshold, bodyBytes) {
      const bound = mediaTokens(request) + bodyBytes * tokensPerByte;
      if (bound <= threshold) return { tokens: bound, by: 'bound' };
      const { texts, others } = promptOf(request);
      // The lower bound is faster than cache lookups, so it is tried first for very long bodies.
      if (bodyBytes > threshold * bytesPerWord) {
        const words = lowerBoundOf(texts, others, threshold);
        if (words > threshold) return { tokens: words, by: 'bound' };
      }
      let least = others;
      let most = others;
      for (const text of texts) {
        const known = cached.get(text);
        most += known ?? Buffer.byteLength(text);
        least += known ?? 0;
      }
      if (most <= threshold) {
        if (most > threshold / 2) counting.warm();
        return { tokens: most, by: least === most ? 'count' : 'bound' };
      }
      for (const text of texts) {
        if (least > threshold) return { tokens: least, by: 'bound' };
        if (!cached.has(text)) least += tokenLowerBound(text);
      }
      return least > threshold ? { tokens: least, by: least === most ? 'count' : 'bound' } : undefined;
    },

    async count(request) {
      const { texts, others } = promptOf(request);
      let tokens = others;
      const missing: string[] = [];
      for (const text of texts) {
        const known = cached.get(text);
        if (known === undefined) missing.push(text);
        else tokens += known;
      }
      if (missing.length === 0) return { tokens, by: 'count' };
      try {
        for (const [index, counted] of (await counting.count(missing)).entries()) {
          tokens += counted;
          cached.set(missing[index] ?? '', counted);
        }
        return { tokens, by: 'count' };
      } catch {
        const bytes = missing.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
        return { tokens: tokens + Math.ceil(bytes / bytesPerToken), by: 'estimate' };
      }
    },
  };
};

/** A lower bound of the texts' tokens plus `others`; stops once it is above the threshold. */
const lowerBoundOf = (texts: readonly string[], others: number, threshold: number): number => {
  let least = others;
  for (const text of texts) {
    least += tokenLowerBound(text);
    if (least > threshold) break;
  }
  return least;
};

/** Counts synchronously in the calling thread; for commands and tests. */
export const countedHere = (count: (request: ModelRequest) => number): PromptTokens => ({
  sizeBeside: (request) => ({ tokens: count(request), by: 'count' }),
  count: async (request) => ({ tokens: count(request), by: 'count' }),
});
