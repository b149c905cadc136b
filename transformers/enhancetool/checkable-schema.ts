import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json.ts';

/**
 * A client's schema without what must not be checked here: regular expressions, which could be made to run for hours, and
 * references to schemas elsewhere.
 */
export const checkableSchema = (schema: JsonObject): JsonObject => {
  const unsure = 'patternProperties' in schema;
  const members = Object.entries(schema).flatMap(([name, value]): [string, Json | undefined][] => {
    if (unchecked.has(name)) return [];
    // Which members are additional depends on the patterns.
    if (unsure && (name === 'additionalProperties' || name === 'unevaluatedProperties')) return [];
    if (name === '$ref' && !(typeof value === 'string' && value.startsWith('#'))) return [];
    return [[name, inner(name, value)]];
  });
  return Object.fromEntries(members);
};

const unchecked = new Set(['pattern', 'patternProperties', 'propertyNames', 'format', '$id', 'id', '$schema']);

/** Keywords whose members are schemas under names of the author's choice. */
const maps = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords whose value is data. */
const values = new Set(['const', 'enum', 'default', 'examples', 'required']);

const inner = (name: string, value: Json | undefined): Json | undefined => {
  if (values.has(name)) return value;
  if (Array.isArray(value)) return value.map((one: Json) => (isJsonObject(one) ? checkableSchema(one) : one));
  if (!isJsonObject(value)) return value;
  if (!maps.has(name)) return checkableSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, isJsonObject(one) ? checkableSchema(one) : one]),
  );
};
