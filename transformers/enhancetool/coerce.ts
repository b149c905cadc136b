import { isJsonObject, type Json, parseJson } from '../../engine/model/json.ts';
import type { SchemaCheck } from './schema-check.ts';
import { type Span, valueSpan } from './value-span.ts';

/** One value's text in place of another's. */
interface Change {
  readonly span: Span;
  readonly text: string;
}

/** How often a value may hold another one as text: a list in a string, whose items are numbers in strings. */
const maxRounds = 8;

/**
 * The arguments with values of another type than the schema's turned into it, where they are the same but for quotes: `"5"`
 * and `5`, `"[1]"` and `[1]`. Texts are cut and pasted, not written anew. `undefined` when they don't fit even so.
 */
export const coerce = (json: string, check: SchemaCheck): string | undefined => {
  let text = json.trim() === '' ? '{}' : json;
  for (let round = 0; round < maxRounds; round += 1) {
    const value = parseJson(text);
    if (value === undefined) return undefined;
    if (check.misfit(value) === undefined) {
      if (!isJsonObject(value)) return undefined;
      return round === 0 ? json : text;
    }
    const changes = changesOf(text, value, check);
    if (changes.length === 0) return undefined;
    text = paste(text, changes);
  }
  return undefined;
};

const changesOf = (text: string, value: Json, check: SchemaCheck): readonly Change[] => {
  const changes = new Map<number, Change>();
  for (const { path, types } of check.typeErrors(value)) {
    const span = valueSpan(text, path);
    if (!span) continue;
    const written = text.slice(span.start, span.end);
    for (const type of types) {
      const turned = turnTo(type, written);
      if (turned === undefined) continue;
      changes.set(span.start, { span, text: turned });
      break;
    }
  }
  return [...changes.values()];
};

/** The places are apart from each other: each is a value that has the wrong type itself. */
const paste = (text: string, changes: readonly Change[]): string => {
  const out: string[] = [];
  let from = 0;
  for (const change of [...changes].sort((one, other) => one.span.start - other.span.start)) {
    out.push(text.slice(from, change.span.start), change.text);
    from = change.span.end;
  }
  out.push(text.slice(from));
  return out.join('');
};

const numeral = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const wholeNumeral = /^-?(?:0|[1-9]\d*)$/;

/** A value's JSON text as one of this type; `undefined` where it isn't the same value in other quotes. */
const turnTo = (type: string, written: string): string | undefined => {
  const value = parseJson(written);
  if (type === 'string') return typeof value === 'number' || typeof value === 'boolean' ? `"${written}"` : undefined;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  switch (type) {
    case 'integer':
      return wholeNumeral.test(text) ? text : undefined;
    case 'number':
      return numeral.test(text) ? text : undefined;
    case 'boolean':
      return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : undefined;
    case 'null':
      return text === 'null' ? text : undefined;
    case 'array':
      return Array.isArray(parseJson(text)) ? text : undefined;
    case 'object':
      return isJsonObject(parseJson(text)) ? text : undefined;
    default:
      return undefined;
  }
};
