/** Length from which a piece may end at a blank line, and maximum length, in characters. */
const leastLength = 4_000;
const mostLength = 8_000;

/**
 * Splits Markdown into pieces that can be parsed one by one, at blank lines outside of code. The time that parsing takes may grow
 * with the square of a piece's length; so it grows with the text's. While a text grows at its end, only its last piece changes.
 */
export const splitText = (text: string): readonly string[] => {
  const pieces: string[] = [];
  let start = 0;
  // The line that opened a code block, and the piece's own opening line where code was cut.
  let fence = '';
  let opening = '';
  const cut = (end: number): void => {
    pieces.push(opening + text.slice(start, end));
    opening = fence === '' ? '' : `${fence}\n`;
    start = end;
  };
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found + 1;
    const line = text.slice(at, Math.min(end, at + mostLength)).trim();
    if (fence === '' ? opens(line) : closes(line, fence)) fence = fence === '' ? line.slice(0, mostFence) : '';
    const isBlank = line === '' && fence === '';
    if (end - start > mostLength && at > start) cut(at);
    while (end - start > mostLength) cut(start + mostLength);
    if (isBlank && end - start >= leastLength) cut(end);
    at = end;
  }
  if (start < text.length) cut(text.length);
  return pieces;
};

/** A fence's language is short. */
const mostFence = 100;

const opens = (line: string): boolean => line.startsWith('```') || line.startsWith('~~~');

const closes = (line: string, fence: string): boolean =>
  line.startsWith(fence.slice(0, 3)) && line === line.charAt(0).repeat(line.length);
