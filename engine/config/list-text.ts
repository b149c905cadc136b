import type { Node } from 'jsonc-parser';

/** One member of an object or an array as it stands in a text, with the comments that are about it. */
export interface Item {
  /** From the line's beginning, or the comma before, up to the member: comments above it and white space. */
  readonly lead: string;
  readonly text: string;
  /** Comments behind it on its line. */
  readonly tail: readonly string[];
}

/** An object's or an array's text, taken apart. */
export interface ListText {
  readonly items: readonly Item[];
  /** What stands between the last member and the closing bracket. */
  readonly rest: string;
  /** A comma follows the last member. */
  readonly trailingComma: boolean;
}

/** Takes an object's or an array's text apart. */
export const splitList = (source: string, { offset, length, children = [] }: Node): ListText => {
  const close = offset + length - 1;
  let lead = source.slice(offset + 1, children[0]?.offset ?? close);
  let trailingComma = false;
  const items = children.map((child, index): Item => {
    const end = child.offset + child.length;
    const after = splitGap(source.slice(end, children[index + 1]?.offset ?? close));
    const item = { lead, text: source.slice(child.offset, end), tail: after.tail };
    lead = after.rest;
    trailingComma = after.comma;
    return item;
  });
  return { items, rest: lead, trailingComma };
};

/** Puts members together to the text of an object or an array. */
export const joinList = (brackets: readonly [string, string], list: ListText, eol: string): string => {
  const pieces: string[] = [];
  let inLineComment = false;
  const put = (piece: string): void => {
    // A line comment must not swallow what follows it.
    if (inLineComment && !/^[ \t]*[\r\n]/.test(piece)) pieces.push(eol);
    pieces.push(piece);
    inLineComment = false;
  };
  const putTrivia = (trivia: string): void => {
    if (trivia === '') return;
    put(trivia);
    inLineComment = /\/\/[^\r\n]*$/.test(trivia);
  };
  put(brackets[0]);
  for (const [index, { lead, text, tail }] of list.items.entries()) {
    putTrivia(lead);
    put(index < list.items.length - 1 || list.trailingComma ? `${text},` : text);
    putTrivia(tail.map((comment) => ` ${comment}`).join(''));
  }
  putTrivia(list.rest);
  put(brackets[1]);
  return pieces.join('');
};

/** Whether a text of white space and comments holds a comment. */
export const hasComment = (trivia: string): boolean => trivia.includes('/');

const commentOrComma = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|,|\r\n|\r|\n/g;

/** What stands between two members: comments on the first one's line belong to it, the rest to what follows. */
const splitGap = (gap: string): { tail: string[]; rest: string; comma: boolean } => {
  const tokens = [...gap.matchAll(commentOrComma)];
  const comma = tokens.findIndex(([token]) => token === ',');
  const isLine = ([token]: RegExpMatchArray) => token === '\n' || token === '\r' || token === '\r\n';
  const isComment = ([token]: RegExpMatchArray) => token.startsWith('/');
  const behind = tokens.slice(comma + 1);
  const line = behind.findIndex(isLine);
  const own = [...tokens.slice(0, comma + 1), ...behind.slice(0, Math.max(line, 0))].filter(isComment);
  const from = behind[line]?.index ?? (comma < 0 ? 0 : (tokens[comma]?.index ?? 0) + 1);
  return { tail: own.map(([token]) => token), rest: gap.slice(from), comma: comma >= 0 };
};
