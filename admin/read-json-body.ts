import { TextDecoder } from 'node:util';
import { defaultSettings } from '../engine/config/service-settings.ts';
import { fail } from '../engine/model/fault.ts';
import { isJsonObject, isWithinDepth, type JsonObject, parseJson } from '../engine/model/json/json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request's body as a JSON object. Throws an `invalid-request` fault for other bodies, and for nesting deeper than
 * `maxDepth` levels.
 */
export const readJsonBody = (body: Uint8Array, maxDepth: number = defaultSettings().limits.jsonDepth): JsonObject => {
  const value = parseJson(decode(body));
  if (value === undefined) return fail('invalid-request', 'The body is not valid JSON.');
  if (!isWithinDepth(value, maxDepth)) fail('invalid-request', `The body is nested deeper than ${maxDepth} levels.`);
  return isJsonObject(value) ? value : fail('invalid-request', 'The body must be a JSON object.');
};

const decode = (body: Uint8Array): string => {
  try {
    return utf8.decode(body);
  } catch {
    return fail('invalid-request', 'The body is not valid UTF-8.');
  }
};
