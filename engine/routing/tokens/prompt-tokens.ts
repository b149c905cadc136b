import { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import { writeJson } from '../../model/json/exact-numbers.ts';
import { parseJson } from '../../model/json/json.ts';
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
  /**
   * As `sizeBeside`, from the JSON text of a request without media. `strings` are the values in it that belong to the prompt,
   * as offsets: behind the opening quote, and of the closing one. Values of some dozen bytes and more are worth a look.
   */
  readonly sizeOfStrings: (
    body: Uint8Array,
    strings: Iterable<readonly [start: number, end: number]>,
    threshold: number,
  ) => PromptSize | undefined;
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

/** Texts whose counts are remembered: those of some long conversations. 5 MB at most. */
const maxRemembered = 50_000;
/** Characters that tell a text from others of its length. */
const maxSampled = 32;
/**
 * An upper bound. No text has more tokens than bytes, since each token of the encoding stands for at least one byte. Arguments
 * and schemas are written again before they are counted, which lengthens numbers: the 5 bytes of `1e20,` become 21 digits and
 * a comma, which are 8 tokens. The bytes of a turn's, tool's or call's own syntax exceed its overhead in tokens.
 */
const maxTokensPerByte = 8 / 5;
/** A rule of thumb. */
const bytesPerToken = 4;

/** Remembers counts by text, so that only the new texts of a growing conversation are counted. */
export const createPromptTokens = (counting: TextCounting): PromptTokens => {
  const remembered = new LRUCache<number, number>({ max: maxRemembered });

  /** Below the threshold by an upper bound; a count is likely soon once the bound comes near. */
  const below = (most: number, least: number, threshold: number): PromptSize => {
    if (most > threshold / 2) counting.warm();
    return { tokens: most, by: least === most ? 'count' : 'bound' };
  };

  const tokensAt = (body: Uint8Array, start: number, end: number): number | undefined => {
    const key = keyOfBytes(body, start, end);
    const known = remembered.get(key);
    if (known !== undefined) return known;
    // With escapes and beyond ASCII the bytes are not the text's characters. Each such text is decoded once.
    const text = parseJson(Buffer.from(body.buffer, body.byteOffset + start - 1, end - start + 2).toString());
    const counted = typeof text === 'string' ? remembered.get(keyOf(text)) : undefined;
    if (counted !== undefined) remembered.set(key, counted);
    return counted;
  };

  return {
    sizeBeside(request, threshold, bodyBytes) {
      if (bodyBytes * maxTokensPerByte <= threshold) {
        const bound = mediaTokens(request) + Math.ceil(bodyBytes * maxTokensPerByte);
        if (bound <= threshold) return { tokens: bound, by: 'bound' };
      }
      const { texts, values, others } = promptOf(request);
      let known = others;
      let rest = bodyBytes;
      const unknown: string[] = [];
      const look = (text: string): void => {
        const tokens = remembered.get(keyOf(text));
        if (tokens === undefined) unknown.push(text);
        else {
          known += tokens;
          rest -= text.length;
        }
      };
      texts.forEach(look);
      if (known > threshold) return { tokens: known, by: unknown.length + values.length === 0 ? 'count' : 'bound' };
      // Often decides before the tools and calls are written as JSON, which costs more than all look-ups.
      const bound = known + Math.ceil(rest * maxTokensPerByte);
      if (values.length > 0 && bound <= threshold) return below(bound, known, threshold);
      for (const value of values) look(writeJson(value));
      const most = known + bytesWithin(threshold - known, unknown);
      if (most <= threshold) return below(most, known, threshold);
      let least = known;
      for (const text of unknown) {
        if (least > threshold) break;
        least += tokenLowerBound(text);
      }
      return least > threshold ? { tokens: least, by: unknown.length === 0 ? 'count' : 'bound' } : undefined;
    },

    sizeOfStrings(body, strings, threshold) {
      let known = 0;
      let rest = body.length;
      for (const [start, end] of strings) {
        const tokens = tokensAt(body, start, end);
        if (tokens === undefined) continue;
        known += tokens;
        rest -= end - start;
      }
      const most = known + Math.ceil(rest * maxTokensPerByte);
      if (most <= threshold) return below(most, known, threshold);
      return known > threshold ? { tokens: known, by: 'bound' } : undefined;
    },

    async count(request) {
      const { texts, values, others } = promptOf(request);
      let tokens = others;
      const missing: string[] = [];
      for (const text of [...texts, ...values.map(writeJson)]) {
        const known = remembered.get(keyOf(text));
        if (known === undefined) missing.push(text);
        else tokens += known;
      }
      if (missing.length === 0) return { tokens, by: 'count' };
      try {
        for (const [index, counted] of (await counting.count(missing)).entries()) {
          tokens += counted;
          remembered.set(keyOf(missing[index] ?? ''), counted);
        }
        return { tokens, by: 'count' };
      } catch {
        const bytes = missing.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
        return { tokens: tokens + Math.ceil(bytes / bytesPerToken), by: 'estimate' };
      }
    },
  };
};

/** Bytes of the texts; infinite beyond the limit. A text has at least as many bytes as UTF-16 units, which cost nothing. */
const bytesWithin = (limit: number, texts: readonly string[]): number => {
  let bytes = 0;
  for (const text of texts) {
    if (bytes + text.length > limit) return Number.POSITIVE_INFINITY;
    bytes += Buffer.byteLength(text);
  }
  return bytes;
};

/**
 * A text's key: its length and a hash of its last character and of up to 32 from the first on, evenly spread. It costs the same
 * for any length; a hash of the whole text took 7 % of the time of a 100 KB request. Texts of one length that agree in all samples
 * have the same key: as a rule versions of one text, whose counts differ by a few tokens. Only the choice of `longContext` and
 * the provisional count at the start of a stream depend on it.
 */
const keyOf = (text: string): number => sampleKey(text.length, (index) => text.charCodeAt(index));

/** The key of a text whose characters are these bytes. */
const keyOfBytes = (bytes: Uint8Array, start: number, end: number): number =>
  sampleKey(end - start, (index) => bytes[start + index] ?? 0);

const sampleKey = (length: number, unitAt: (index: number) => number): number => {
  const step = Math.ceil(length / maxSampled);
  let hash = length === 0 ? 0 : unitAt(length - 1);
  for (let at = 0; at < length; at += step) {
    hash = Math.imul(hash ^ unitAt(at), hashFactor);
    hash ^= hash >>> 15;
  }
  // 32 bits of hash and 21 of length: the 53 bits of a whole number.
  return (hash >>> 0) + (length % 2 ** 21) * 2 ** 32;
};

/** The multiplier of MurmurHash2. */
const hashFactor = 0x5bd1e995;

/** Counts synchronously in the calling thread; for commands and tests. */
export const countedHere = (count: (request: ModelRequest) => number): PromptTokens => ({
  sizeBeside: (request) => ({ tokens: count(request), by: 'count' }),
  sizeOfStrings: () => undefined,
  count: async (request) => ({ tokens: count(request), by: 'count' }),
});
