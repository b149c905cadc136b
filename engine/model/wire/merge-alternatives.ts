import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../json/json.ts';
import type { Losses } from '../loss.ts';
import { mergeAllSchemas, mergeSchemas } from './merge-schemas.ts';
import { schemaAt } from './schema-reference.ts';

const unions = ['anyOf', 'oneOf'] as const;

/** The maximum depth of alternatives in alternatives, and of references to them. */
const maxDepth = 16;

/** The maximum number of alternatives: references may expand a small schema without bound. */
const maxAlternatives = 1_000;

/**
 * An object schema without alternatives: one object with the properties of all, of which those are required that all of them
 * require. The parts of an `allOf` all hold, so what one requires is required. Returns the same object if there is nothing to
 * merge. `root` is the whole schema, for references; `at` is its path in the request.
 */
export const mergeAlternatives = (schema: JsonObject, root: JsonObject, at: string, losses: Losses): JsonObject => {
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    if (Array.isArray(schema[keyword])) {
      losses.approximate(`${at}.${keyword}`, 'one object with the properties of all alternatives');
    }
  }
  return merge(schema, { root, depth: 0, budget: { left: maxAlternatives } });
};

interface Place {
  readonly root: JsonObject;
  readonly depth: number;
  readonly budget: { left: number };
}

const merge = (given: JsonObject, place: Place): JsonObject => {
  const { anyOf, oneOf, allOf, ...base } = given;
  if (![anyOf, oneOf, allOf].some(Array.isArray)) return given;
  let merged = mergeAllSchemas([base, ...branches(allOf, place)]);
  for (const keyword of unions) {
    const alternatives = branches(given[keyword], place).filter(isObjectSchema);
    if (alternatives.length > 0) merged = join(merged, unite(alternatives));
  }
  return merged;
};

/** The schemas of a list, without references and alternatives of their own. */
const branches = (list: Json | undefined, place: Place): readonly JsonObject[] => {
  if (!Array.isArray(list) || place.depth >= maxDepth) return [];
  return list.filter(isJsonObject).flatMap((item) => {
    place.budget.left -= 1;
    if (place.budget.left < 0) return [];
    const below = { ...place, depth: place.depth + 1 };
    if (typeof item.$ref !== 'string') return [merge(item, below)];
    const target = schemaAt(place.root, item.$ref);
    const { $ref: _, ...others } = item;
    return target ? branches([mergeSchemas(target, others)], below) : [];
  });
};

const isObjectSchema = ({ type, properties, required }: JsonObject): boolean =>
  type === 'object' ||
  (Array.isArray(type) && type.includes('object')) ||
  (type === undefined && (isJsonObject(properties) || Array.isArray(required)));

/** One object that any of the alternatives fits. */
const unite = (alternatives: readonly JsonObject[]): JsonObject => {
  const byName = new Map<string, Map<string, Json>>();
  for (const { properties } of alternatives) {
    if (!isJsonObject(properties)) continue;
    for (const [name, schema] of Object.entries(properties)) {
      if (schema === undefined) continue;
      const known = byName.get(name) ?? new Map<string, Json>();
      known.set(JSON.stringify(schema), schema);
      byName.set(name, known);
    }
  }
  const properties = Object.fromEntries([...byName].map(([name, schemas]) => [name, anyOfThem([...schemas.values()])]));
  const [first = [], ...others] = alternatives.map(({ required }) => (Array.isArray(required) ? required : []));
  const sets = others.map((names) => new Set(names));
  const shared = first.filter((name) => sets.every((names) => names.has(name)));
  const closed = alternatives.every(({ additionalProperties }) => additionalProperties === false);
  return { properties, ...(shared.length > 0 && { required: shared }), ...(closed && { additionalProperties: false }) };
};

const anyOfThem = (schemas: readonly Json[]): Json => {
  const [only] = schemas;
  return schemas.length === 1 && only !== undefined ? only : { anyOf: schemas };
};

/** Both in one. Of a property that both have, the schema of `base` holds for all alternatives. */
const join = (base: JsonObject, more: JsonObject): JsonObject => {
  const joined: JsonDraft = { ...base };
  joined.properties = {
    ...(isJsonObject(more.properties) ? more.properties : {}),
    ...(isJsonObject(base.properties) ? base.properties : {}),
  };
  const required = [base.required, more.required].flatMap((names) => (Array.isArray(names) ? names : []));
  if (required.length > 0) joined.required = [...new Set(required)];
  if (more.additionalProperties === false && base.properties === undefined) {
    joined.additionalProperties ??= false;
  }
  return joined;
};
