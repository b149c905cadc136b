import type { Json, JsonObject } from '../../../engine/model/json/json.ts';

export type { Json, JsonObject };

/** Neither null, nor a list, nor a plain value. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses JSON; `undefined` for any other text. */
export const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Parses a JSON object; `undefined` for anything else. */
export const parseObject = (text: string): JsonObject | undefined => {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
};

/** Indents JSON; any other text stays as it is. */
export const pretty = (text: string): string => {
  const value = parseJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
};
