import { maxTail, StringPieces } from '../../engine/model/json/json-pieces.ts';

/**
 * Decodes a JSON string after its opening quote, from arbitrary pieces. A quote that the model failed to escape is
 * kept as text, as far as the next characters show it.
 */
export const jsonStringText = (): StringPieces => new StringPieces(closesString);

/**
 * Whether a quote closes the string, by the text after it; `undefined` if more text is needed. It does before another
 * member, and at the end of the object if only the end follows.
 */
const closesString = (tail: string): boolean | undefined => {
  if (/^"\s*,\s*"(?:[^"\\]|\\.)*"\s*:/s.test(tail)) return true;
  const atEnd = /^"[\s}]*$/.test(tail);
  if (tail.length >= maxTail) return atEnd;
  return atEnd || /^"\s*,\s*(?:"(?:[^"\\]|\\.)*(?:\\|"\s*)?)?$/s.test(tail) ? undefined : false;
};
