import { keepDigits } from './exact-numbers.ts';

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. `undefined` members are omitted when it is written. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** A JSON object under construction. */
export interface JsonDraft {
  [key: string]: Json | undefined;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses JSON text; `undefined` for invalid text. Numbers that a double can't hold keep their digits for `writeJson`. */
export const parseJson = (text: string): Json | undefined => {
  try {
    return keepDigits(text, JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** Whether a value is nested at most `levels` deep. Later steps walk values recursively and must not exhaust the stack. */
export const isWithinDepth = (value: Json | undefined, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  // No list of an object's values, which would be garbage: parsed JSON inherits nothing enumerable.
  if (isJsonObject(value)) for (const name in value) if (!isWithinDepth(value[name], levels - 1)) return false;
  if (Array.isArray(value)) for (const member of value) if (!isWithinDepth(member, levels - 1)) return false;
  return true;
};
