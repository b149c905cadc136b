import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { readError } from './read-error.ts';

/**
 * The error in a reply with a success status, or in a record of a stream; `undefined` without one. Hosts put it below `error`, mark
 * the whole object as one, or send a code and words instead of content. `content`: the member that holds a reply's content.
 */
export const errorIn = (body: JsonObject, content: string): Json | undefined => {
  const { error, base_resp: outcome } = body;
  if (isGiven(error)) return error;
  if (body.object === 'error' || body.type === 'error') return body;
  if (isJsonObject(outcome) && isFailureCode(outcome.status_code)) return outcome;
  return isGiven(body[content]) || !saysFailure(body) || readError(body).message === '' ? undefined : body;
};

const isGiven = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== false && value !== '';

/** Whether an object without content says that something failed: a stream may hold other records without content. */
const saysFailure = (body: JsonObject): boolean => {
  const { success, code, status_code, error_code, errors, detail } = body;
  const isList = Array.isArray(errors) || Array.isArray(detail) || typeof detail === 'string';
  return success === false || isList || [code, status_code, error_code].some(isFailureCode);
};

/** Codes that mean success. */
const successCodes: ReadonlySet<string> = new Set(['', '0', 'ok', 'success']);

const isFailureCode = (code: Json | undefined): boolean => {
  if (typeof code !== 'number' && typeof code !== 'string') return false;
  const word = String(code).toLowerCase();
  return !successCodes.has(word) && !/^2\d\d$/.test(word);
};
