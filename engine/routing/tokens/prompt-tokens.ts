import { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import { writeJson } from '../../model/json/json.ts';
import type { Outline, Range } from '../../model/json/outline.ts';
import type { ModelRequest } from '../../model/request.ts';
import { tokenLowerBound, tokenLowerBoundOfJson } from './estimate.ts';
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
   * only a count can decide. `bodyBytes` is the length of the request's body. With an outline, the request is that of the outline.
   */
  readonly sizeRelativeTo: (
    request: ModelRequest,
    threshold: number,
    bodyBytes: number,
    outline?: Outline,
  ) => PromptSize | undefined;
  /** Counts a request's tokens, or estimates them if counting fails. */
  readonly count: (request: ModelRequest, outline?: Outline) => Promise<PromptSize>;
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
/** Bounds the number of entries. Unlike `max`, `maxSize` allocates nothing in advance. */
const remembering = { maxSize: maxRemembered, sizeCalculation: () => 1 };
/** Characters sampled to distinguish texts of one length. */
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
  const remembered = new LRUCache<number, number>(remembering);
  /** Lower bounds of cut texts. A conversation that is far above the threshold is never counted. */
  const bounds = new LRUCache<number, number>(remembering);

  /** Below the threshold by an upper bound; a count is likely soon once the bound comes near. */
  const below = (most: number, least: number, threshold: number): PromptSize => {
    if (most > threshold / 2) counting.warm();
    return { tokens: most, by: least === most ? 'count' : 'bound' };
  };

  const leastOf = ({ text, cut, key }: Piece): number => {
    if (!cut) return tokenLowerBound(text);
    const known = bounds.get(key);
    if (known !== undefined) return known;
    const least = tokenLowerBoundOfJson(cut.body, ...cut.range);
    bounds.set(key, least);
    return least;
  };

  return {
    sizeRelativeTo(request, threshold, bodyBytes, outline) {
      if (bodyBytes * maxTokensPerByte <= threshold) {
        const bound = mediaTokens(request) + Math.ceil(bodyBytes * maxTokensPerByte);
        if (bound <= threshold) return { tokens: bound, by: 'bound' };
      }
      const { texts, values, others } = promptOf(request);
      let known = others;
      let rest = bodyBytes;
      const unknown: Piece[] = [];
      const look = (text: string): void => {
        const piece = pieceOf(text, outline);
        const tokens = remembered.get(piece.key);
        if (tokens === undefined) unknown.push(piece);
        else {
          known += tokens;
          rest -= piece.units;
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
      for (const piece of unknown) {
        if (least > threshold) break;
        least += leastOf(piece);
      }
      return least > threshold ? { tokens: least, by: unknown.length === 0 ? 'count' : 'bound' } : undefined;
    },

    async count(request, outline) {
      const { texts, values, others } = promptOf(request);
      let tokens = others;
      const keys: number[] = [];
      const missing: string[] = [];
      for (const found of [...texts, ...values.map(writeJson)]) {
        const { key } = pieceOf(found, outline);
        const known = remembered.get(key);
        if (known === undefined) {
          keys.push(key);
          missing.push(outline ? outline.restore(found) : found);
        } else tokens += known;
      }
      if (missing.length === 0) return { tokens, by: 'count' };
      try {
        for (const [index, counted] of (await counting.count(missing)).entries()) {
          tokens += counted;
          remembered.set(keys[index] ?? 0, counted);
        }
        return { tokens, by: 'count' };
      } catch {
        const bytes = missing.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
        return { tokens: tokens + Math.ceil(bytes / bytesPerToken), by: 'estimate' };
      }
    },
  };
};

/** A text of a prompt. */
interface Piece {
  readonly text: string;
  /** Position of the bytes of a text that is cut from a body; then `text` is its mark. */
  readonly cut: { readonly body: Uint8Array; readonly range: Range } | undefined;
  readonly key: number;
  /** Length in UTF-16 units; in bytes of JSON if it is cut. */
  readonly units: number;
}

const pieceOf = (found: string, outline: Outline | undefined): Piece => {
  const range = outline?.rangeOf(found);
  if (outline && range) {
    const { body } = outline;
    const [from, to] = range;
    const key = keyOf(to - from, (index) => body[from + index] ?? 0);
    return { text: found, cut: { body, range }, key, units: to - from };
  }
  const text = outline ? outline.restore(found) : found;
  return { text, cut: undefined, key: keyOf(text.length, (index) => text.charCodeAt(index)), units: text.length };
};

/** Bytes of the texts, at most; infinite beyond the limit. A text has at least as many bytes as UTF-16 units, which cost nothing. */
const bytesWithin = (limit: number, pieces: readonly Piece[]): number => {
  let bytes = 0;
  for (const { text, cut, units } of pieces) {
    if (bytes + units > limit) return Number.POSITIVE_INFINITY;
    bytes += cut ? units : Buffer.byteLength(text);
  }
  return bytes;
};

/**
 * A text's key: its length and a hash of its last character and of up to 32 from the first on, evenly spread. It costs the same
 * for any length; a hash of the whole text took 7 % of the time of a 100 KB request. Texts of one length that agree in all samples
 * have the same key: as a rule versions of one text, whose counts differ by a few tokens. Only the choice of `longContext`, the
 * refusal of prompts far above a window and the provisional count at the start of a stream depend on it. The key of a cut text is
 * that of its bytes.
 */
const keyOf = (length: number, unitAt: (index: number) => number): number => {
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
export const synchronousPromptTokens = (count: (request: ModelRequest) => number): PromptTokens => {
  const sizeOf = (request: ModelRequest, outline?: Outline): PromptSize => {
    const whole: ModelRequest = outline ? JSON.parse(outline.restore(JSON.stringify(request))) : request;
    return { tokens: count(whole), by: 'count' };
  };
  return {
    sizeRelativeTo: (request, _threshold, _bodyBytes, outline) => sizeOf(request, outline),
    count: async (request, outline) => sizeOf(request, outline),
  };
};
