import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { mergeSchemas } from './merge-schemas.ts';

/** Where in a schema the walk is, and what it may still cost. */
export interface SchemaPlace {
  /** The whole schema, to which references point. */
  readonly root: JsonObject;
  /** Path in the client's request, for losses. */
  readonly at: string;
  readonly losses: Losses;
  /** The references followed to get here. */
  readonly refs: readonly string[];
  readonly depth: number;
  /** Shared by the whole walk: references can make a small schema endlessly big. */
  readonly budget: { left: number };
}

/** What limits a walk: schemas beyond it are cut. */
export const maxDepth = 48;
export const maxSchemas = 5000;

/** One step down. */
export const below = (place: SchemaPlace, step: string): SchemaPlace => ({
  ...place,
  at: `${place.at}.${step}`,
  depth: place.depth + 1,
});

/** Puts what `$ref` and `allOf` speak of in their place. Recursion ends in an object of any kind. */
export const flattenSchema = (schema: JsonObject, place: SchemaPlace): { schema: JsonObject; place: SchemaPlace } => {
  let flat = schema;
  let here = place;
  while (typeof flat.$ref === 'string') {
    const { $ref, ...siblings } = flat;
    if (here.refs.includes($ref)) {
      place.losses.approximate(`${place.at}.$ref`, 'recursion ends in any object');
      return { schema: mergeSchemas({ type: 'object' }, onlyNotes(siblings)), place: here };
    }
    const target = lookUp(place.root, $ref);
    if (!target) place.losses.drop(`${place.at}.$ref`, 'points to nothing in the schema');
    flat = mergeSchemas(target ?? {}, siblings);
    here = { ...here, refs: [...here.refs, $ref] };
  }
  const { allOf, ...rest } = flat;
  if (!Array.isArray(allOf) || here.depth > maxDepth) return { schema: flat, place: here };
  flat = rest;
  for (const part of allOf.filter(isJsonObject)) {
    place.budget.left -= 1;
    if (place.budget.left < 0) break;
    const inner = flattenSchema(part, { ...here, depth: here.depth + 1 });
    here = { ...here, refs: inner.place.refs };
    flat = mergeSchemas(flat, inner.schema);
  }
  return { schema: flat, place: here };
};

const onlyNotes = ({ title, description }: JsonObject): JsonObject => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
});

/** What a reference inside the schema points to. Source: RFC 6901, "JSON Pointer", in a URI fragment. */
const lookUp = (root: JsonObject, ref: string): JsonObject | undefined => {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let found: Json | undefined = root;
  for (const step of ref.split('/').slice(1)) {
    const name = unescapePointer(step);
    if (Array.isArray(found)) found = found[Number(name)];
    else found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
};

/** Percent signs that aren't an escape of UTF-8 stay as they are. */
const unescapePointer = (step: string): string => {
  let plain = step;
  try {
    plain = decodeURIComponent(step);
  } catch {}
  return plain.replaceAll('~1', '/').replaceAll('~0', '~');
};
