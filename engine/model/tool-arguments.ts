import { writeJson } from './json/exact-numbers.ts';
import { isJsonObject, type JsonObject, parseJson } from './json/json.ts';
import type { ToolInput } from './request.ts';

/** A call's arguments as JSON text; `{}` if there are none. */
export const inputText = (input: ToolInput): string =>
  typeof input === 'string' ? (input.trim() === '' ? '{}' : input) : writeJson(input);

/** A call's arguments as an object; `undefined` if the text isn't one, as in a call cut off at the token limit. */
export const inputObject = (input: ToolInput): JsonObject | undefined => {
  if (typeof input !== 'string') return input;
  if (input.trim() === '') return {};
  const value = parseJson(input);
  return isJsonObject(value) ? value : undefined;
};
