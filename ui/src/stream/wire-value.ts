import { isJsonObject, type Json, type JsonObject } from '../api/json.ts';

/** The object at a name, or an empty one: responses are read leniently. */
export const objectAt = (value: JsonObject, name: string): JsonObject => {
  const found = value[name];
  return isJsonObject(found) ? found : {};
};

/** The objects in the list at a name. */
export const objectsAt = (value: JsonObject, name: string): readonly JsonObject[] => {
  const found: Json | undefined = value[name];
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
};

/** The text at a name, or an empty one. */
export const textAt = (value: JsonObject, name: string): string => {
  const found = value[name];
  return typeof found === 'string' ? found : '';
};

/** `{ [as]: number }` for the number at a name, or an empty object. */
export const countAt = <As extends string>(
  value: JsonObject,
  name: string,
  as: As,
): Partial<Readonly<Record<As, number>>> => {
  const found = value[name];
  const counts: Partial<Record<As, number>> = {};
  if (typeof found === 'number') counts[as] = found;
  return counts;
};

/** The message of an error: `{message}`, or a plain text. */
export const wordsOf = (error: Json | undefined): string | undefined => {
  if (typeof error === 'string') return error;
  if (!isJsonObject(error)) return undefined;
  return textAt(error, 'message') || 'The response ended with an error without a message.';
};
