import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';

/** The schema of an element of a member that is a list; of one that may also be a text, the object's. */
export const schemaAt = (schema: JsonObject, name: string): JsonObject | undefined => {
  const list = isJsonObject(schema.properties) ? schema.properties[name] : undefined;
  const items = isJsonObject(list) ? list.items : undefined;
  const either = isJsonObject(items) && Array.isArray(items.anyOf) ? items.anyOf : [items];
  return either.filter(isObjectSchema)[0];
};

const isObjectSchema = (one: Json | undefined): one is JsonObject => isJsonObject(one) && one.type === 'object';
