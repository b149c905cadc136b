import { isJsonObject, type JsonObject, parseJson } from './json.ts';
import type { ToolInput } from './request.ts';

/** Arguments as JSON text. No arguments are `{}`. */
export const inputText = (input: ToolInput): string =>
  typeof input === 'string' ? (input.trim() === '' ? '{}' : input) : JSON.stringify(input);

/** Arguments as an object; `undefined` when the text isn't one (a call cut off at the token limit, say). */
export const inputObject = (input: ToolInput): JsonObject | undefined => {
  if (typeof input !== 'string') return input;
  if (input.trim() === '') return {};
  const value = parseJson(input);
  return isJsonObject(value) ? value : undefined;
};
