import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../json/json.ts';

/** Merges two JSON Schemas into one that requires both, as far as possible; otherwise `second` wins. */
export const mergeSchemas = (first: JsonObject, second: JsonObject): JsonObject => {
  const merged: JsonDraft = { ...first, ...second };
  for (const [keyword, join] of Object.entries(joins)) {
    const [one, other] = [first[keyword], second[keyword]];
    if (one !== undefined && other !== undefined) merged[keyword] = join(one, other);
  }
  return merged;
};

/** Merges any number of JSON Schemas, pairwise: one by one would copy the result for each schema. */
export const mergeAllSchemas = (schemas: readonly JsonObject[]): JsonObject => {
  const [only = {}] = schemas;
  if (schemas.length < 2) return only;
  const half = schemas.length >> 1;
  return mergeSchemas(mergeAllSchemas(schemas.slice(0, half)), mergeAllSchemas(schemas.slice(half)));
};

type Join = (one: Json, other: Json) => Json;

const greater: Join = (one, other) =>
  typeof one === 'number' && typeof other === 'number' ? Math.max(one, other) : other;

const smaller: Join = (one, other) =>
  typeof one === 'number' && typeof other === 'number' ? Math.min(one, other) : other;

const joins: Readonly<Record<string, Join>> = {
  type: (one, other) => (one === 'integer' && other === 'number' ? one : other),
  properties: (one, other) => (isJsonObject(one) && isJsonObject(other) ? mergeProperties(one, other) : other),
  required: (one, other) => (Array.isArray(one) && Array.isArray(other) ? [...new Set([...one, ...other])] : other),
  enum: (one, other) => (Array.isArray(one) && Array.isArray(other) ? both(one, other) : other),
  description: (one, other) => (one === other ? one : `${one}\n${other}`),
  allOf: (one, other) => (Array.isArray(one) && Array.isArray(other) ? [...one, ...other] : other),
  minimum: greater,
  minLength: greater,
  minItems: greater,
  minProperties: greater,
  maximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
};

const both = (one: readonly Json[], other: readonly Json[]): readonly Json[] => {
  const values = new Set(other);
  return one.filter((value) => values.has(value));
};

const mergeProperties = (one: JsonObject, other: JsonObject): JsonObject => {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const both = Object.hasOwn(one, name) && Object.hasOwn(other, name);
      if (both) return [name, { allOf: [one[name] ?? true, other[name] ?? true] }];
      return [name, Object.hasOwn(one, name) ? one[name] : other[name]];
    }),
  );
};
