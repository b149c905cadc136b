import { createRequire } from 'node:module';
import { root } from '../places.ts';

/** Counts the tokens of a text. */
export type Encoder = (text: string) => number;

/**
 * Loads the `o200k_base` encoding, that of OpenAI's current models; other vendors don't publish theirs. Measured: 220 ms and
 * some 70 MB of memory, against about 100 ms for the older `cl100k_base`, whose count of an English text with code was 0.4 %
 * lower. Marks such as `<|endoftext|>` in a text count as plain text.
 */
export const loadEncoder = (): Encoder => {
  const require = createRequire(root);
  // An `import` would load it at the start, needed or not; what `require` gives is untyped, so the package's types are named.
  const { get_encoding: getEncoding }: typeof import('tiktoken') = require('tiktoken');
  const encoding = getEncoding('o200k_base');
  return (text) => encoding.encode_ordinary(text).length;
};
