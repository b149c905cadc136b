import { TextDecoder } from 'node:util';
import { fail } from '../engine/model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../engine/model/json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A request's body as a JSON object. Throws an `invalid-request` fault for anything else. */
export const readJsonBody = (body: Uint8Array): JsonObject => {
  const value = parseJson(decode(body));
  if (value === undefined) return fail('invalid-request', 'The body is not valid JSON.');
  return isJsonObject(value) ? value : fail('invalid-request', 'The body must be a JSON object.');
};

const decode = (body: Uint8Array): string => {
  try {
    return utf8.decode(body);
  } catch {
    return fail('invalid-request', 'The body is not valid UTF-8.');
  }
};
