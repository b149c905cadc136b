import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';

/**
 * Copies a client's schema without unsafe keywords: regular expressions, which could run for hours, and external
 * references. `visit` is called for each check of a value against a subschema, with its size; it may throw.
 */
export const checkableSchema = (schema: JsonObject, visit: Visit): JsonObject => {
  const unsure = 'patternProperties' in schema;
  const members = Object.entries(schema).flatMap(([name, value]): [string, Json | undefined][] => {
    if (unchecked.has(name)) return [];
    // The patterns determine which members are additional.
    if (unsure && (name === 'additionalProperties' || name === 'unevaluatedProperties')) return [];
    if (name === '$ref' && !(typeof value === 'string' && value.startsWith('#'))) return [];
    return [[name, inner(name, value, visit)]];
  });
  const size = members.reduce((sum, [, value]) => sum + sizeOf(value), 1);
  // The checker reads each schema's `$id` first; none has one here.
  return Object.defineProperty(Object.fromEntries(members), '$id', { get: () => visit(size) });
};

type Visit = (size: number) => undefined;

/**
 * The number of members plus an eighth of their names' length: the checker compiles property names to an expression.
 */
const sizeOf = (value: Json | undefined): number => {
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).reduce((sum, name) => sum + 1 + name.length / 8, 0) : 0;
};

const unchecked = new Set(['pattern', 'patternProperties', 'propertyNames', 'format', '$id', 'id', '$schema']);

/** Keywords that hold schemas under arbitrary names. */
const maps = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords that hold data. */
const values = new Set(['const', 'enum', 'default', 'examples', 'required']);

const inner = (name: string, value: Json | undefined, visit: Visit): Json | undefined => {
  if (values.has(name)) return value;
  if (Array.isArray(value)) return value.map((one: Json) => (isJsonObject(one) ? checkableSchema(one, visit) : one));
  if (!isJsonObject(value)) return value;
  if (!maps.has(name)) return checkableSchema(value, visit);
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, isJsonObject(one) ? checkableSchema(one, visit) : one]),
  );
};
