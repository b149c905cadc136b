import {
  closeBrace,
  closeBracket,
  comma,
  isJsonSpace,
  type JsonObject,
  openBrace,
  openBracket,
  quote,
  skipSpace,
  stringEnd,
  writeJson,
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
  for (const [from, to] of membersNamed(text, skipSpace(text, 0), name)) {
    if (to - from === value.length && text.startsWith(value, from)) continue;
    pieces.push(text.slice(kept, from), value);
    kept = to;
  }
  if (pieces.length === 0) return text;
  pieces.push(text.slice(kept));
  return pieces.join('');
};

/**
 * Applies a JSON Merge Patch whose values are no objects to a JSON object's text: members with null are removed, the others replaced or
 * put first. The rest keeps its bytes, but for the blanks around members. The text must be valid JSON.
 */
export const patchText = (text: string, patch: JsonObject): string => {
  const kept: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(at) === quote) {
    const nameEnd = stringEnd(text, at);
    const end = valueEnd(text, skipSpace(text, skipSpace(text, nameEnd) + 1));
    const name: unknown = JSON.parse(text.slice(at, nameEnd));
    if (typeof name === 'string' && !Object.hasOwn(patch, name)) kept.push(text.slice(at, end));
    at = nextItem(text, end);
  }
  const added = Object.entries(patch).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : `${JSON.stringify(name)}:${writeJson(value)}`,
  );
  return `{${[...added, ...kept].join(',')}}`;
};

/** The ranges of the values of members of this name in the object that begins at `object`, in valid JSON text. */
export const membersNamed = (text: string, object: number, name: string): [from: number, to: number][] => {
  const found: [number, number][] = [];
  let at = skipSpace(text, object + 1);
  while (text.charCodeAt(at) === quote) {
    const nameEnd = stringEnd(text, at);
    // Past the colon.
    const from = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const to = valueEnd(text, from);
    if (isNamed(text, at, nameEnd, name)) found.push([from, to]);
    at = nextItem(text, to);
  }
  return found;
};

/** Where the item or member begins after the value that ends at `end`, in valid JSON text; the text's end after the last. */
export const nextItem = (text: string, end: number): number => {
  const at = skipSpace(text, end);
  return text.charCodeAt(at) === comma ? skipSpace(text, at + 1) : text.length;
};

/** Index after the value that begins at `from`, in valid JSON text. */
export const valueEnd = (text: string, from: number): number => {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = stringEnd(text, at);
        if (end === 0) return text.length;
        if (depth === 0) return end;
        at = end - 1;
        break;
      }
      case openBrace:
      case openBracket:
        depth += 1;
        break;
      case closeBrace:
      case closeBracket:
        // After a number or literal that is the last in its container.
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      case comma:
        if (depth === 0) return at;
        break;
      default:
        if (depth === 0 && isJsonSpace(text.charCodeAt(at))) return at;
    }
  }
  return text.length;
};

/** Whether the string literal from `from` to `to` is the name, with or without escapes. */
const isNamed = (text: string, from: number, to: number, name: string): boolean => {
  if (to - from - 2 < name.length) return false;
  const written = text.slice(from + 1, to - 1);
  return written.includes('\\') ? JSON.parse(`"${written}"`) === name : written === name;
};
