import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { mergeSchemas } from '../../../engine/model/wire/merge-schemas.ts';
import { type SchemaType, schemaTypes, typedKeywords } from './clean-keywords.ts';
import { below, flattenSchema, maxDepth, maxSchemas, type SchemaPlace } from './flatten-schema.ts';

/**
 * JSON Schema → the OpenAPI subset that all servers of this format accept; any other keyword fails the whole request.
 * Keeps the meaning as far as the subset allows; the rest becomes losses. `at` is the schema's path in the request.
 * Source: Gemini API reference, "Schema".
 */
export const cleanSchema = (schema: JsonObject, at: string, losses: Losses): JsonObject =>
  clean(schema, { root: schema, at, losses, refs: [], depth: 0, budget: { left: maxSchemas } });

const clean = (given: Json | undefined, outer: SchemaPlace): JsonObject => {
  outer.budget.left -= 1;
  if (outer.depth > maxDepth || outer.budget.left < 0) {
    outer.losses.approximate(outer.at, 'too deep or too big: any object');
    return { type: 'OBJECT' };
  }
  if (!isJsonObject(given)) return anything({}, outer);
  const { schema, place } = flattenSchema(given, outer);
  recordUnknown(schema, place);
  const variants = variantsOf(schema, place);
  const types = typesOf(schema);
  const kinds = types.filter((type) => type !== 'null');
  const nullable = schema.nullable === true || types.length > kinds.length || admitsNull(schema.enum);
  if (variants) return cleanVariants(schema, variants, nullable, place);
  if (kinds.length > 1) {
    const typed = kinds.map((type) => clean({ ...schema, type, nullable: false }, siblingPlace(place)));
    return oneOfMany(schema, typed, nullable);
  }
  const type = kinds[0] ?? (nullable && types.length > 0 ? 'null' : guessType(schema));
  return type ? cleanTyped(schema, type, nullable, place) : anything(schema, place);
};

/** The same path, one level deeper for the budget. */
const siblingPlace = (place: SchemaPlace): SchemaPlace => ({ ...place, depth: place.depth + 1 });

/** Cleans a schema for values of one type. */
const cleanTyped = (schema: JsonObject, type: SchemaType, nullable: boolean, place: SchemaPlace): JsonObject => ({
  type: type.toUpperCase(),
  ...notesOf(schema),
  ...(nullable && type !== 'null' && { nullable: true }),
  ...(schema.default !== undefined && schema.default !== null && { default: schema.default }),
  ...exampleOf(schema),
  ...typedKeywords(schema, type, place, clean),
});

const notesOf = ({ title, description }: JsonObject): JsonObject => ({
  ...(typeof title === 'string' && { title }),
  ...(typeof description === 'string' && { description }),
});

const exampleOf = ({ example, examples }: JsonObject): JsonObject => {
  const first = example ?? (Array.isArray(examples) ? examples[0] : undefined);
  return first === undefined || first === null ? {} : { example: first };
};

const cleanVariants = (
  schema: JsonObject,
  variants: readonly JsonObject[],
  nullable: boolean,
  place: SchemaPlace,
): JsonObject => {
  const { anyOf, oneOf, title, description, default: fallback, nullable: _, ...base } = schema;
  const cleaned = variants
    .filter((variant) => variant.type !== 'null')
    .map((variant, index) => clean(mergeSchemas(base, variant), below(place, `anyOf[${index}]`)));
  if (cleaned.length === 0) return cleanTyped(schema, 'null', false, place);
  return oneOfMany(schema, cleaned, nullable || cleaned.length < variants.length);
};

/** `anyOf` must stand alone, so common members move into each variant. */
const oneOfMany = (schema: JsonObject, variants: readonly JsonObject[], nullable: boolean): JsonObject => {
  const notes = notesOf(schema);
  const flat = variants.flatMap(({ anyOf, ...variant }): readonly JsonObject[] =>
    Array.isArray(anyOf) ? anyOf.filter(isJsonObject) : [variant],
  );
  const noted = flat.map((variant) => {
    const whole: JsonDraft = { ...notes, ...variant };
    if (nullable && variant.type !== 'NULL') whole.nullable = true;
    return whole;
  });
  return noted.length === 1 ? (noted[0] ?? {}) : { anyOf: noted };
};

/** The subset has no type for any value. This is the closest; a list would need an item type. */
const anything = (schema: JsonObject, place: SchemaPlace): JsonObject => {
  place.losses.approximate(place.at, 'any value except a list');
  const types = ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT'];
  return { anyOf: types.map((type) => ({ type, ...notesOf(schema) })) };
};

const variantsOf = (schema: JsonObject, { at, losses }: SchemaPlace): readonly JsonObject[] | undefined => {
  const { anyOf, oneOf } = schema;
  if (Array.isArray(anyOf)) {
    if (oneOf !== undefined) losses.drop(`${at}.oneOf`);
    return anyOf.filter(isJsonObject);
  }
  if (!Array.isArray(oneOf)) return undefined;
  losses.approximate(`${at}.oneOf`, 'anyOf');
  return oneOf.filter(isJsonObject);
};

const typesOf = ({ type }: JsonObject): readonly SchemaType[] => {
  const given = Array.isArray(type) ? type : [type];
  const words = given.map((word) => (typeof word === 'string' ? word.toLowerCase() : ''));
  return schemaTypes.filter((known) => words.includes(known));
};

const admitsNull = (values: Json | undefined): boolean => Array.isArray(values) && values.includes(null);

/** The type of an untyped schema, from its keywords or allowed values. */
const guessType = (schema: JsonObject): SchemaType | undefined => {
  for (const [type, keywords] of telling) if (keywords.some((keyword) => schema[keyword] !== undefined)) return type;
  const values = (Array.isArray(schema.enum) ? schema.enum : [schema.const]).filter((value) => value !== null);
  const kinds = new Set(values.map((value) => typeof value));
  const [kind] = kinds;
  if (kinds.size !== 1) return undefined;
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : undefined;
};

const telling: readonly (readonly [SchemaType, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['pattern', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

const recordUnknown = (schema: JsonObject, { at, losses }: SchemaPlace): void => {
  for (const [keyword, value] of Object.entries(schema)) {
    if (known.has(keyword) || (keyword === 'additionalProperties' && value === true)) continue;
    losses.drop(`${at}.${keyword}`);
  }
};

/** Keywords that are supported, and those without effect. */
const known: ReadonlySet<string> = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'const', 'default', 'example', 'examples'],
  ...['items', 'prefixItems', 'minItems', 'maxItems', 'properties', 'required', 'propertyOrdering', 'minProperties'],
  ...[
    'maxProperties',
    'minLength',
    'maxLength',
    'pattern',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
  ],
  ...['anyOf', 'oneOf', 'allOf', '$ref', '$defs', 'definitions', '$schema', '$id', '$anchor', '$comment'],
]);

/** A cleaned schema as an object schema, as functions require; alternatives keep their common properties. */
export const objectOf = (schema: JsonObject, at: string, losses: Losses): JsonObject => {
  if (!Array.isArray(schema.anyOf)) {
    if (schema.type === 'OBJECT') return schema;
    losses.drop(at, 'not an object schema');
    return { type: 'OBJECT' };
  }
  losses.approximate(`${at}.anyOf`, 'one object with the members of all alternatives');
  const variants = schema.anyOf.filter(isJsonObject).filter(({ type }) => type === 'OBJECT');
  const [first = [], ...others] = variants.map(({ required }) => (Array.isArray(required) ? required : []));
  const sets = others.map((names) => new Set(names));
  const shared = first.filter((name) => sets.every((names) => names.has(name)));
  const properties = Object.fromEntries(
    variants.flatMap((variant) => (isJsonObject(variant.properties) ? Object.entries(variant.properties) : [])),
  );
  return {
    type: 'OBJECT',
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(shared.length > 0 && { required: shared }),
  };
};
