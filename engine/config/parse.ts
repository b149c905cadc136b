import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import type { Finding } from './diagnostics.ts';

/** A parsed configuration or the faults of its text. */
export type ParsedConfig = { readonly source: JsonObject } | { readonly faults: readonly Finding[] };

/**
 * Parses JSON with comments and trailing commas. A text that isn't JSON is one fault, at its first place: what a parser says after it
 * follows from it. Line and column count from 1.
 */
export const parseConfig = (source: string): ParsedConfig => {
  const text = source.replace(/^\uFEFF/, '');
  // Read as UTF-8, a text in UTF-16 has a NUL in every other place.
  if (text.includes('\0'))
    return { faults: [{ path: '', message: 'is not a text in UTF-8: save it in that encoding' }] };
  if (text.trim() === '') return { faults: [{ path: '', message: 'is empty; it must be at least {}' }] };
  const deep = tooDeepAt(text);
  if (deep !== undefined) {
    return { faults: [{ path: '', message: `is nested deeper than ${maxDepth} levels at ${position(text, deep)}` }] };
  }
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors.toSorted((one, other) => one.offset - other.offset);
  if (first) {
    const { error, offset } = first;
    const message = `is not valid JSON: ${errorMessage(printParseErrorCode(error))} at ${position(text, offset)}`;
    return { faults: [{ path: '', message }] };
  }
  const value = tree && jsonOf(tree);
  return isJsonObject(value) ? { source: value } : { faults: [{ path: '', message: 'must be a JSON object' }] };
};

/** Maximum nesting of a configuration: some thousand levels would exhaust the stack of parser and readers. */
export const maxDepth = 256;

/** Token kinds of the scanner, whose `const enum` isn't available here. Source: jsonc-parser 3.3.1, `SyntaxKind`. */
const token = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, end: 17 };

/** Offset at which a text exceeds `maxDepth`; `undefined`: it doesn't. */
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

/** Converts a node to a value. The parser's `getNodeValue` would set the prototype for a member `__proto__`. */
const jsonOf = (node: Node): Json => {
  const children = node.children ?? [];
  if (node.type === 'array') return children.map(jsonOf);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(
    children.map(({ children: [name, value] = [] }) => [String(name?.value), value ? jsonOf(value) : null]),
  );
};

/** `CommaExpected` → `comma expected`. */
const errorMessage = (code: string): string => code.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

const position = (text: string, offset: number): string => {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
};
