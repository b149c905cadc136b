import { jsonrepair } from 'jsonrepair';
import { isJsonObject, parseJson } from '../../engine/model/json/json.ts';
import { coerce } from './coerce.ts';
import type { SchemaCheck } from './schema-check.ts';
import type { Work } from './work.ts';

/** A call's arguments after repair. */
interface RepairedArguments {
  /** JSON text, unchanged if nothing was wrong. */
  readonly text: string;
  /** The repairs, made or failed; absent for valid arguments. */
  readonly note?: string;
}

/** Whether the arguments are a JSON object or empty. */
export const isWhole = (json: string): boolean => json.trim() === '' || isJsonObject(parseJson(json));

/**
 * Repairs arguments so that they parse and fit the tool's schema, as far as that is safe. Unrepairable ones stay
 * unchanged; numbers keep their digits. Never throws. Does nothing once `work` is used up.
 */
export const repairArguments = (json: string, check: SchemaCheck, work: Work): RepairedArguments => {
  const repaired = isWhole(json) ? json : repair(json, work);
  const fitting = coerce(repaired ?? json, check, work);
  const text = fitting ?? repaired;
  const misfit =
    fitting === undefined && text !== undefined ? check.misfit(parseJson(text.trim() === '' ? '{}' : text)) : undefined;
  if (work.isOver) return overdone(json, repaired ?? json);
  if (text === undefined) return { text: json, note: 'not a JSON object: left unchanged' };
  const done = [
    ...(repaired !== undefined && repaired !== json ? ['malformed JSON was repaired'] : []),
    ...(fitting !== undefined && fitting !== (repaired ?? json) ? ["types were made to fit the tool's schema"] : []),
    ...(misfit !== undefined ? [`don't fit the tool's schema: ${misfit}`] : []),
  ];
  return done.length === 0 ? { text } : { text, note: done.join('; ') };
};

const overdone = (json: string, text: string): RepairedArguments => ({
  text,
  note:
    text === json
      ? 'unchecked and unchanged: repairing this answer takes too long'
      : 'malformed JSON was repaired; unchecked: repairing this answer takes too long',
});

/** The longest repaired text, in UTF-16 units: the library's time grows with the square of the quotes in it. */
const maxRepaired = 32_768;

/** Divides the squared length into steps of work. The longest text costs about 90,000. */
const squarePerStep = 12_000;

/** `undefined` if the result is no object. */
const repair = (json: string, work: Work): string | undefined => {
  if (json.length > maxRepaired || !work.take(json.length ** 2 / squarePerStep)) return undefined;
  try {
    const repaired = jsonrepair(keepBackslashes(json)).trim();
    return isJsonObject(parseJson(repaired)) ? repaired : undefined;
  } catch {
    return undefined;
  }
};

/** Doubles the backslash of invalid escapes: the library drops it, turning `C:\dir` into `C:dir`. */
const keepBackslashes = (json: string): string =>
  json.replace(/\\(?:["'\\/bfnrt]|u[\da-fA-F]{4})?/g, (written) => (written === '\\' ? '\\\\' : written));
