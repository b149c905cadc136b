import type { Node } from 'jsonc-parser';

/** The text of one member or element, with its comments. */
export interface ListItem {
  /** White space and comments before the item, from the line's start or the previous comma. */
  readonly lead: string;
  readonly text: string;
  /** Comments after it on its line. */
  readonly tail: readonly string[];
}

/** The text of an object or array, split into items. */
export interface ListText {
  readonly items: readonly ListItem[];
  /** Text between the last item and the closing bracket. */
  readonly rest: string;
  /** A comma follows the last item. */
  readonly trailingComma: boolean;
}

/** Splits the text of an object or array. */
export const splitList = (source: string, { offset, length, children = [] }: Node): ListText => {
  const close = offset + length - 1;
  let lead = source.slice(offset + 1, children[0]?.offset ?? close);
  let trailingComma = false;
  const items = children.map((child, index): ListItem => {
    const end = child.offset + child.length;
    const after = splitGap(source.slice(end, children[index + 1]?.offset ?? close));
    const item = { lead, text: source.slice(child.offset, end), tail: after.tail };
    lead = after.rest;
    trailingComma = after.comma;
    return item;
  });
  return { items, rest: lead, trailingComma };
};

/** Joins items to the text of an object or array. */
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
    inLineComment = lastLine(trivia).includes('//');
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

const lastLine = (text: string): string => text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);

/** Whether white space and comments contain a comment. */
export const hasComment = (trivia: string): boolean => trivia.includes('/');

const commentOrComma = /\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)|,|\r\n|\r|\n/g;

/** Splits the text between two items: comments on the first item's line belong to it, the rest to the second. */
const splitGap = (gap: string): { tail: string[]; rest: string; comma: boolean } => {
  const tokens = [...gap.matchAll(commentOrComma)];
  const comma = tokens.findIndex(([token]) => token === ',');
  const isLine = ([token]: RegExpMatchArray) => token === '\n' || token === '\r' || token === '\r\n';
  const isComment = ([token]: RegExpMatchArray) => token.startsWith('/');
  const after = tokens.slice(comma + 1);
  const line = after.findIndex(isLine);
  const own = [...tokens.slice(0, comma + 1), ...after.slice(0, Math.max(line, 0))].filter(isComment);
  const from = after[line]?.index ?? (comma < 0 ? 0 : (tokens[comma]?.index ?? 0) + 1);
  return { tail: own.map(([token]) => token), rest: gap.slice(from), comma: comma >= 0 };
};
