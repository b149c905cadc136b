/** What JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object; a name that isn't there reads as `undefined`. */
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** Neither null, nor a list, nor a plain value. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
