import { isJsonObject, type Json, parseJson } from '../../engine/model/json/json.ts';
import type { SchemaCheck } from './schema-check.ts';
import { type Span, valueSpan } from './value-span.ts';
import type { Work } from './work.ts';

/** Replaces one value's text. */
interface Change {
  readonly span: Span;
  readonly text: string;
}

/** The maximum nesting of values in strings: a list in a string may hold numbers in strings. */
const maxRounds = 8;

/**
 * Converts values of a wrong type that differ from the right one only by quotes: `"5"` and `5`, `"[1]"` and `[1]`.
 * Edits the text instead of rewriting it. `undefined` if the arguments still don't fit.
 */
export const coerce = (json: string, check: SchemaCheck, work: Work): string | undefined => {
  let text = json.trim() === '' ? '{}' : json;
  for (let round = 0; round < maxRounds; round += 1) {
    const value = parseJson(text);
    if (value === undefined) return undefined;
    if (check.misfit(value) === undefined) {
      if (!isJsonObject(value)) return undefined;
      return round === 0 ? json : text;
    }
    const changes = changesOf(text, value, check, work);
    if (changes.length === 0) return undefined;
    text = paste(text, changes);
  }
  return undefined;
};

/** UTF-16 units read per step of work. */
const unitsPerStep = 100;

const changesOf = (text: string, value: Json, check: SchemaCheck, work: Work): readonly Change[] => {
  const changes = new Map<number, Change>();
  for (const { path, types } of check.typeErrors(value)) {
    // Each step of the path reads the rest of the text.
    if (!work.take((text.length * path.length) / unitsPerStep)) return [];
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

/** The ranges don't overlap: each is a value with a wrong type of its own. */
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

/** A value's JSON text as another type; `undefined` if more than the quotes would change. */
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
