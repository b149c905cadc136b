import { jsonrepair } from 'jsonrepair';
import { isJsonObject, type JsonObject, parseJson } from '../../engine/model/json.ts';
import { coerce } from './coerce.ts';
import { SchemaCheck } from './schema-check.ts';

/** A call's arguments as they go out. */
export interface MendedArguments {
  /** JSON text; byte for byte as it came where nothing had to be done. */
  readonly text: string;
  /** What was done, or couldn't be; absent for arguments that were right. */
  readonly note?: string;
}

/** Whether the arguments are a JSON object, or none at all. */
export const isWhole = (json: string): boolean => json.trim() === '' || isJsonObject(parseJson(json));

/**
 * Arguments → arguments that parse and fit the tool's schema, as far as that is safe. What can't be mended stays as it came;
 * numbers keep their digits. Never throws, whatever the schema.
 */
export const mendArguments = (json: string, schema: JsonObject | undefined): MendedArguments => {
  const repaired = isWhole(json) ? json : repair(json);
  const check = new SchemaCheck({ type: 'object', ...schema });
  const fitting = coerce(repaired ?? json, check);
  const text = fitting ?? repaired;
  if (text === undefined) return { text: json, note: 'no JSON object: as they came' };
  const misfit = fitting === undefined ? check.misfit(parseJson(text.trim() === '' ? '{}' : text)) : undefined;
  const done = [
    ...(repaired !== undefined && repaired !== json ? ['malformed JSON was repaired'] : []),
    ...(fitting !== undefined && fitting !== (repaired ?? json) ? ["types were made to fit the tool's schema"] : []),
    ...(misfit !== undefined ? [`don't fit the tool's schema: ${misfit}`] : []),
  ];
  return done.length === 0 ? { text } : { text, note: done.join('; ') };
};

/** The longest text that is repaired, in UTF-16 units: the library's time grows with the square of the quotes in it. */
const maxRepaired = 32_768;

/** `undefined` when that doesn't lead to an object. */
const repair = (json: string): string | undefined => {
  if (json.length > maxRepaired) return undefined;
  try {
    const repaired = jsonrepair(keepBackslashes(json)).trim();
    return isJsonObject(parseJson(repaired)) ? repaired : undefined;
  } catch {
    return undefined;
  }
};

/** The library drops the backslash of an escape that JSON doesn't have, which would turn `C:\dir` into `C:dir`. */
const keepBackslashes = (json: string): string =>
  json.replace(/\\(?:["'\\/bfnrt]|u[\da-fA-F]{4})?/g, (written) => (written === '\\' ? '\\\\' : written));
