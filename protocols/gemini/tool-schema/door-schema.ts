import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { cleanSchema } from './clean-schema.ts';

/**
 * JSON Schema in the subset that Gemini's models read wherever they are served: others' servers pass schemas on to
 * `FunctionDeclaration.parameters`, which takes no lists of types and few keywords. Types have JSON Schema's spelling.
 */
export const geminiSubset = (schema: JsonObject, at: string, losses: Losses): JsonObject =>
  lowerTypes(cleanSchema(schema, at, losses));

const lowerTypes = ({ type, properties, items, anyOf, ...others }: JsonObject): JsonObject => ({
  ...(typeof type === 'string' && { type: type.toLowerCase() }),
  ...others,
  ...(isJsonObject(properties) && {
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, schema === undefined ? schema : lowered(schema)]),
    ),
  }),
  ...(items !== undefined && { items: lowered(items) }),
  ...(Array.isArray(anyOf) && { anyOf: anyOf.map(lowered) }),
});

const lowered = (schema: Json): Json => (isJsonObject(schema) ? lowerTypes(schema) : schema);
