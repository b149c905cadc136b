import { createRequire } from 'node:module';
import { writeJson } from '../../model/json/json.ts';
import type { ModelRequest } from '../../model/request.ts';
import { root } from '../../paths.ts';
import { splitText } from './estimate.ts';
import { promptOf } from './prompt.ts';

/** Counts a text's tokens. */
type Encoder = (text: string) => number;

/**
 * Loads `o200k_base`, the encoding of OpenAI's current models; other vendors don't publish theirs. Measured: 220 ms and some
 * 70 MB. The older `cl100k_base` takes about 100 ms and counts 0.4 % fewer tokens of an English text with code. Marks such as
 * `<|endoftext|>` count as plain text.
 */
const loadEncoder = (): Encoder => {
  const require = createRequire(root);
  // Loaded on first use, unlike an `import`. `require` is untyped, hence the type annotation. package.json says where it is: the
  // packed gateway has a copy of the files that are needed.
  const { get_encoding: getEncoding }: typeof import('tiktoken') = require('#tiktoken');
  const encoding = getEncoding('o200k_base');
  return (text) => encoding.encode_ordinary(text).length;
};

/** Counts tokens synchronously; a megabyte of text takes some 200 ms. */
interface TokenCounter {
  /**
   * Tokens of a request. Texts, calls, results, thinking and tools are counted as OpenAI's models do; images and documents are
   * estimated. Other vendors' counts of plain text differ, mostly by less than a fifth; hidden instructions around tools add
   * some hundred tokens at some vendors. Loads the encoding on first use.
   */
  readonly count: (request: ModelRequest) => number;
  /** Tokens of one text. */
  readonly countText: (text: string) => number;
}

/** A counter with its own encoding. */
export const createTokenCounter = (load: () => Encoder = loadEncoder): TokenCounter => {
  let encoder: Encoder | undefined;
  const countText = (text: string): number => {
    if (text === '') return 0;
    encoder ??= load();
    const encode = encoder;
    return splitText(text).reduce((sum, piece) => sum + encode(piece), 0);
  };
  return {
    count(request) {
      const { texts, values, others } = promptOf(request);
      return [...texts, ...values.map(writeJson)].reduce((sum, text) => sum + countText(text), others);
    },
    countText,
  };
};
