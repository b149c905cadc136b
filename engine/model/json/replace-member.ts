import {
  closeBrace,
  closeBracket,
  comma,
  isJsonSpace,
  memberValue,
  openBrace,
  openBracket,
  quote,
  stringEnd,
} from './json.ts';

/** Adds a member at the start of a JSON object's text; every other byte is unchanged. The text must be valid JSON, with a member. */
export const addMember = (text: string, name: string, value: string): string => {
  const start = text.indexOf('{') + 1;
  return `${text.slice(0, start)}${JSON.stringify(name)}:${value},${text.slice(start)}`;
};

/**
 * Replaces the value of every top-level member `name` in a JSON object's text; every other byte is unchanged. The text must
 * be valid JSON. Repeated members are all replaced, since parsers differ in which one they use.
 */
export const replaceMember = (text: string, name: string, value: string): string => {
  const pieces: string[] = [];
  let kept = 0;
  for (const [from, to] of membersNamed(text, name)) {
    if (to - from === value.length && text.startsWith(value, from)) continue;
    pieces.push(text.slice(kept, from), value);
    kept = to;
  }
  if (pieces.length === 0) return text;
  pieces.push(text.slice(kept));
  return pieces.join('');
};

/** The ranges of the values of top-level members of this name. */
const membersNamed = (text: string, name: string): [from: number, to: number][] => {
  const found: [number, number][] = [];
  let depth = 0;
  let atKey = false;
  let open: number | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = stringEnd(text, at);
        if (depth === 1 && atKey) {
          atKey = false;
          if (isNamed(text, at, end, name)) open = memberValue(text, end);
        }
        at = end - 1;
        break;
      }
      case openBrace:
      case openBracket:
        depth += 1;
        atKey = depth === 1;
        break;
      case comma:
        if (depth !== 1) break;
        if (open !== undefined) found.push([open, trimmedEnd(text, at)]);
        open = undefined;
        atKey = true;
        break;
      case closeBrace:
      case closeBracket:
        if (depth === 1 && open !== undefined) found.push([open, trimmedEnd(text, at)]);
        depth -= 1;
        break;
      default:
    }
  }
  return found;
};

/** Whether the string literal from `from` to `to` is the name, with or without escapes. */
const isNamed = (text: string, from: number, to: number, name: string): boolean =>
  text.startsWith(name, from + 1)
    ? to - from === name.length + 2
    : text.slice(from, to).includes('\\') && JSON.parse(text.slice(from, to)) === name;

const trimmedEnd = (text: string, end: number): number => {
  let at = end;
  while (isJsonSpace(text.charCodeAt(at - 1))) at -= 1;
  return at;
};
