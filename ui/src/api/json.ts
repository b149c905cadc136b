import type { Json, JsonObject } from '../../../engine/model/json/json.ts';

export type { Json, JsonObject };

/** Neither null, nor a list, nor a plain value. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
