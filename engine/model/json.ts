/** Any value that JSON can write. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. `undefined` members are left out when it is written. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** A JSON object under construction. */
export interface JsonDraft {
  [key: string]: Json | undefined;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON text → value; `undefined` for text that isn't JSON. */
export const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
