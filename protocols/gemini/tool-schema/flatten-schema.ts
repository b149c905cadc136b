import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { mergeAllSchemas, mergeSchemas } from '../../../engine/model/wire/merge-schemas.ts';
import { schemaAt } from '../../../engine/model/wire/schema-reference.ts';

/** A position in a schema walk, and its remaining budget. */
export interface SchemaPlace {
  /** The whole schema, for references. */
  readonly root: JsonObject;
  /** Path in the client's request, for losses. */
  readonly at: string;
  readonly losses: Losses;
  /** The references followed so far. */
  readonly refs: readonly string[];
  readonly depth: number;
  /** Shared by the whole walk: references can expand a small schema without bound. */
  readonly budget: { left: number };
}

/** Bounds of a walk: deeper or further schemas are cut. */
export const maxDepth = 48;
export const maxSchemas = 5000;
/** The maximum length of a chain of references; a longer one counts as recursion. */
const maxRefs = 128;

/** One level down. */
export const below = (place: SchemaPlace, step: string): SchemaPlace => ({
  ...place,
  at: `${place.at}.${step}`,
  depth: place.depth + 1,
});

/** Inlines `$ref` and `allOf`. Recursion ends in an unconstrained object. */
export const flattenSchema = (schema: JsonObject, place: SchemaPlace): { schema: JsonObject; place: SchemaPlace } => {
  let flat = schema;
  let here = place;
  while (typeof flat.$ref === 'string') {
    const { $ref, ...siblings } = flat;
    if (here.refs.length >= maxRefs || here.refs.includes($ref)) {
      place.losses.approximate(`${place.at}.$ref`, 'recursion ends in any object');
      return { schema: mergeSchemas({ type: 'object' }, onlyNotes(siblings)), place: here };
    }
    const target = schemaAt(place.root, $ref);
    if (!target) place.losses.drop(`${place.at}.$ref`, 'points to nothing in the schema');
    flat = mergeSchemas(target ?? {}, siblings);
    here = { ...here, refs: [...here.refs, $ref] };
  }
  const { allOf, ...rest } = flat;
  if (!Array.isArray(allOf) || here.depth > maxDepth) return { schema: flat, place: here };
  const parts: JsonObject[] = [rest];
  for (const part of allOf.filter(isJsonObject)) {
    place.budget.left -= 1;
    if (place.budget.left < 0) break;
    const inner = flattenSchema(part, { ...here, depth: here.depth + 1 });
    here = { ...here, refs: inner.place.refs };
    parts.push(inner.schema);
  }
  return { schema: mergeAllSchemas(parts), place: here };
};

const onlyNotes = ({ title, description }: JsonObject): JsonObject => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
});
