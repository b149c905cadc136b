import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../json/json.ts';
import { Losses } from '../loss.ts';
import { memberPath } from '../schema.ts';
import { mergeAlternatives } from './merge-alternatives.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { schemaAt } from './schema-reference.ts';

/** A vendor's dialect of JSON Schema for a tool's parameters. */
export interface ToolSchemaForm {
  /** `anyOf`, `oneOf` and `allOf` at the root. `merged`: one object with the properties of all. */
  readonly rootUnion: 'kept' | 'merged';
  /** References within the schema. `inlined`: replaced by what they point to, unless that is recursive. */
  readonly references: 'kept' | 'inlined';
  /** Lists whose items have schemas of their own: as `prefixItems`, or as `items` with the alternatives. */
  readonly tuples: 'kept' | 'prefixItems' | 'items';
  /** `type` beside `anyOf` or `oneOf`. `moved`: into each alternative. */
  readonly typeBesideUnion: 'kept' | 'moved';
  /** An object schema without `properties`. */
  readonly properties: 'added' | 'optional';
  /** `$schema`. */
  readonly dialectName: 'kept' | 'dropped';
  /** Writes a schema in the subset that the model reads; absent: all of JSON Schema. */
  readonly subset?: (schema: JsonObject, at: string, losses: Losses) => JsonObject;
}

/** JSON Schema as it is, as an object schema. */
export const anyToolSchema: ToolSchemaForm = {
  rootUnion: 'kept',
  references: 'kept',
  tuples: 'kept',
  typeBesideUnion: 'kept',
  properties: 'added',
  dialectName: 'kept',
};

/** The dialect of strict tools. Source: OpenAI guide "Structured Outputs", "Supported schemas", as of November 2026. */
export const strictToolSchema: ToolSchemaForm = { ...anyToolSchema, rootUnion: 'merged' };

/** The dialect that all known servers accept. */
export const narrowToolSchema: ToolSchemaForm = {
  rootUnion: 'merged',
  references: 'inlined',
  tuples: 'items',
  typeBesideUnion: 'moved',
  properties: 'added',
  dialectName: 'dropped',
};

/**
 * The schema of a tool's parameters in a vendor's form: always an object schema, without a reference at the root or duplicates in
 * `required`. Returns the same object if nothing changes. `at` is its path in the request.
 */
export const toolSchema = (
  parameters: JsonObject | undefined,
  form: ToolSchemaForm,
  at: string,
  losses: Losses,
): JsonObject => {
  if (!parameters) return { type: 'object', properties: {} };
  const walk: Walk = { root: parameters, form, at, losses, left: maxSchemas, keepsReference: false };
  const resolved = resolveRoot(parameters);
  const united = form.rootUnion === 'merged' ? mergeAlternatives(resolved, parameters, at, losses) : resolved;
  if (form.subset) return asObject(form.subset(mergeSchemas({ type: 'object' }, united), at, losses), form);
  const inlined = rewrite(form.references === 'inlined' ? withoutDefinitions(united) : united, [], walk);
  // A recursive schema can't be written without references, so all of them stay.
  const whole = walk.keepsReference ? rewrite(united, [], { ...walk, form: { ...form, references: 'kept' } }) : inlined;
  return asObject(form.dialectName === 'dropped' ? withoutDialect(whole) : whole, form);
};

/** Whether a schema has a vendor's form already, but for `$schema` where the vendor may ignore it. */
export const fitsToolSchema = (parameters: JsonObject, form: ToolSchemaForm): boolean => {
  const written = toolSchema(parameters, { ...form, dialectName: 'kept' }, '', new Losses(''));
  return written === parameters || isDeepStrictEqual(written, parameters);
};

/** The maximum number of schemas of a tool with inlined references, which may expand a small schema without bound. */
const maxSchemas = 5_000;
/** The maximum depth to which references are inlined, and the longest chain of references at the root. */
const maxRefs = 64;

interface Walk {
  /** The client's schema, for references. */
  readonly root: JsonObject;
  readonly form: ToolSchemaForm;
  readonly at: string;
  readonly losses: Losses;
  /** The number of schemas that may still be written with inlined references. */
  left: number;
  /** A reference is still there. */
  keepsReference: boolean;
}

const resolveRoot = (schema: JsonObject): JsonObject => {
  let resolved = schema;
  for (let count = 0; count < maxRefs && typeof resolved.$ref === 'string'; count += 1) {
    const target = schemaAt(schema, resolved.$ref);
    if (!target) return resolved;
    const { $ref: _, ...others } = resolved;
    resolved = mergeSchemas(target, others);
  }
  return resolved;
};

const asObject = (schema: JsonObject, { properties }: ToolSchemaForm): JsonObject => {
  const { type } = schema;
  const isObject = type === 'object';
  if (type !== undefined && !isObject && !(Array.isArray(type) && type.includes('object'))) return schema;
  const typed = isObject ? schema : { ...schema, type: 'object' };
  return properties === 'optional' || isJsonObject(typed.properties) ? typed : { ...typed, properties: {} };
};

const withoutDefinitions = (schema: JsonObject): JsonObject => {
  if (schema.$defs === undefined && schema.definitions === undefined) return schema;
  const { $defs: _, definitions: __, ...rest } = schema;
  return rest;
};

const withoutDialect = (schema: JsonObject): JsonObject => {
  if (schema.$schema === undefined) return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
};

/** Keywords whose values are data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** Keywords whose values are schemas by name. */
const mapKeywords: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

/** `refs`: the references that led here. */
const rewrite = (given: JsonObject, refs: readonly string[], walk: Walk): JsonObject => {
  walk.left -= 1;
  let schema = given;
  let path = refs;
  while (typeof schema.$ref === 'string') {
    const { $ref, ...others } = schema;
    const inlines = walk.form.references === 'inlined' && walk.left > 0 && path.length < maxRefs;
    const target = inlines && !path.includes($ref) ? schemaAt(walk.root, $ref) : undefined;
    if (!target) {
      walk.keepsReference ||= walk.form.references === 'inlined';
      break;
    }
    schema = mergeSchemas(target, others);
    path = [...path, $ref];
  }
  const shaped = moveType(tupleAs(schema, walk), walk);
  let draft: JsonDraft | undefined;
  for (const name in shaped) {
    const value = shaped[name];
    const changed = rewriteMember(name, value, path, walk);
    if (changed === value) continue;
    draft ??= { ...shaped };
    draft[name] = changed;
  }
  return draft ?? shaped;
};

const rewriteMember = (
  name: string,
  value: Json | undefined,
  refs: readonly string[],
  walk: Walk,
): Json | undefined => {
  if (dataKeywords.has(name)) return value;
  if (name === 'required' && Array.isArray(value)) return unique(value);
  if (!isJsonObject(value)) return Array.isArray(value) ? rewriteList(value, refs, walk) : value;
  if (!mapKeywords.has(name)) return rewrite(value, refs, walk);
  let draft: JsonDraft | undefined;
  for (const key in value) {
    const schema = value[key];
    const changed = isJsonObject(schema) ? rewrite(schema, refs, walk) : schema;
    if (changed === schema) continue;
    draft ??= { ...value };
    draft[key] = changed;
  }
  return draft ?? value;
};

const rewriteList = (list: readonly Json[], refs: readonly string[], walk: Walk): readonly Json[] => {
  const changed = list.map((item) => (isJsonObject(item) ? rewrite(item, refs, walk) : item));
  return changed.some((item, index) => item !== list[index]) ? changed : list;
};

const unique = (names: readonly Json[]): readonly Json[] => {
  const once = [...new Set(names)];
  return once.length < names.length ? once : names;
};

/** A list with a schema for each place, in the vendor's form. Source: JSON Schema 2020-12, 10.3.1.1, "prefixItems". */
const tupleAs = (schema: JsonObject, { form, at, losses }: Walk): JsonObject => {
  if (form.tuples === 'kept') return schema;
  const older = Array.isArray(schema.items);
  const places = older ? schema.items : schema.prefixItems;
  if (!Array.isArray(places)) return schema;
  const { items, prefixItems: _, additionalItems, ...others } = schema;
  const rest = older ? additionalItems : items;
  if (form.tuples === 'prefixItems') {
    return { ...others, prefixItems: places, ...(rest !== undefined && { items: rest }) };
  }
  losses.approximate(at, 'a list whose items may be in any order');
  const kinds = [...places.filter(isJsonObject), ...(isJsonObject(rest) ? [rest] : [])];
  const [only] = kinds;
  const closed = rest === false && others.maxItems === undefined ? { maxItems: places.length } : {};
  return { ...others, ...closed, items: kinds.length === 1 && only ? only : { anyOf: kinds } };
};

/** Moves a type that stands beside alternatives into those that have none. */
const moveType = (schema: JsonObject, { form }: Walk): JsonObject => {
  if (form.typeBesideUnion === 'kept' || schema.type === undefined) return schema;
  const keyword = Array.isArray(schema.anyOf) ? 'anyOf' : 'oneOf';
  const alternatives = schema[keyword];
  if (!Array.isArray(alternatives)) return schema;
  const { type, ...others } = schema;
  const typed = alternatives.map((one) => (isJsonObject(one) && one.type === undefined ? { type, ...one } : one));
  return { ...others, [keyword]: typed };
};

/** A path for the losses of a tool's parameters. */
export const parametersPath = (at: string | undefined): string => memberPath(at ?? 'tools', 'parameters');
