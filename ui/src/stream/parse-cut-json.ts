import { type Json, parseJson } from '../api/json.ts';

/**
 * Parses JSON whose end is missing: without the incomplete value at its end, of which only a text keeps its beginning.
 * `undefined` if nothing can be read. Takes linear time.
 */
export const parseCutJson = (text: string): Json | undefined => parseJson(text) ?? parseJson(closed(text));

/** The text up to its last complete value, with all that is open closed. */
const closed = (text: string): string => {
  const closers: string[] = [];
  let end = 0;
  let depth = 0;
  let isKey = false;
  const keep = (to: number): void => {
    end = to;
    depth = closers.length;
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') {
      const { next, complete } = endOfText(text, at);
      if (!complete && !isKey) return `${text.slice(0, next)}"${closing(closers, closers.length)}`;
      if (complete && !isKey) keep(next);
      at = next - 1;
    } else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']');
      isKey = char === '{';
      keep(at + 1);
    } else if (char === '}' || char === ']') {
      closers.pop();
      keep(at + 1);
      isKey = false;
    } else if (char === ',') {
      keep(at);
      isKey = closers.at(-1) === '}';
    } else if (char === ':') isKey = false;
  }
  return text.slice(0, end) + closing(closers, depth);
};

const closing = (closers: readonly string[], depth: number): string => closers.slice(0, depth).reverse().join('');

/** The index after a text that begins at `start`; of one that is cut, the index before a cut escape. */
const endOfText = (text: string, start: number): { readonly next: number; readonly complete: boolean } => {
  let at = start + 1;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '"') return { next: at + 1, complete: true };
    const length = char === '\\' ? (text.charAt(at + 1) === 'u' ? 6 : 2) : 1;
    if (at + length > text.length) break;
    at += length;
  }
  return { next: at, complete: false };
};
