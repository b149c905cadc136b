import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { Finding } from './findings.ts';

/** A configuration's text as a value, or what is wrong with the text. */
export type ParsedConfig = { readonly written: JsonObject } | { readonly faults: readonly Finding[] };

/**
 * JSON text with comments and trailing commas → the configuration as written. Faults name line and column, counted from 1;
 * the parser goes on after one, so that all are found.
 */
export const parseConfig = (source: string): ParsedConfig => {
  const text = source.replace(/^\uFEFF/, '');
  if (text.trim() === '') return { faults: [{ path: '', message: 'is empty; at the least it must be {}' }] };
  const deep = tooDeepAt(text);
  if (deep !== undefined) {
    return { faults: [{ path: '', message: `is nested deeper than ${maxDepth} levels at ${place(text, deep)}` }] };
  }
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const faults = errors.map(({ error, offset }) => ({
    path: '',
    message: `is not valid JSON: ${wordError(printParseErrorCode(error))} at ${place(text, offset)}`,
  }));
  if (faults.length > 0) return { faults };
  const value = tree && jsonOf(tree);
  return isJsonObject(value) ? { written: value } : { faults: [{ path: '', message: 'must be a JSON object' }] };
};

/** Levels that a configuration may have: its parser, and all that walks it, would run out of stack on some thousands. */
export const maxDepth = 256;

/** Token kinds of the scanner, whose own names for them only its compiler could read. Source: jsonc-parser 3.3.1, `SyntaxKind`. */
const token = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, end: 17 };

/** Where a text is nested deeper than it may be. */
const tooDeepAt = (text: string): number | undefined => {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let kind: number = scanner.scan(); kind !== token.end; kind = scanner.scan()) {
    if (kind === token.openBrace || kind === token.openBracket) depth += 1;
    if (kind === token.closeBrace || kind === token.closeBracket) depth -= 1;
    if (depth > maxDepth) return scanner.getTokenOffset();
  }
  return undefined;
};

/** The parser's own `getNodeValue` would take a member `__proto__` for the object's prototype. */
const jsonOf = (node: Node): Json => {
  const children = node.children ?? [];
  if (node.type === 'array') return children.map(jsonOf);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(
    children.map(({ children: [name, value] = [] }) => [String(name?.value), value ? jsonOf(value) : null]),
  );
};

/** `CommaExpected` → `comma expected`. */
const wordError = (code: string): string => code.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

const place = (text: string, offset: number): string => {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
};
