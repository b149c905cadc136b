import { isJsonObject, type JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';

/** A cleaned schema as that of a function's arguments, which must be one object: of alternatives it holds what all may have. */
export const objectOf = (schema: JsonObject, at: string, losses: Losses): JsonObject => {
  if (!Array.isArray(schema.anyOf)) {
    if (schema.type === 'OBJECT') return schema;
    losses.drop(at, 'not the schema of an object');
    return { type: 'OBJECT' };
  }
  losses.approximate(`${at}.anyOf`, 'one object with the members of all alternatives');
  const variants = schema.anyOf.filter(isJsonObject).filter(({ type }) => type === 'OBJECT');
  const required = variants.map((variant) => (Array.isArray(variant.required) ? variant.required : []));
  const shared = (required[0] ?? []).filter((name) => required.every((names) => names.includes(name)));
  const properties = Object.fromEntries(
    variants.flatMap((variant) => (isJsonObject(variant.properties) ? Object.entries(variant.properties) : [])),
  );
  return {
    type: 'OBJECT',
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(shared.length > 0 && { required: shared }),
  };
};
