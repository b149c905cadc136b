import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { below, type SchemaPlace } from './flatten-schema.ts';

/** The types of the subset, in JSON Schema's spelling. */
export const schemaTypes = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null'] as const;
export type SchemaType = (typeof schemaTypes)[number];

type Clean = (schema: Json | undefined, place: SchemaPlace) => JsonObject;

/** The keywords for values of `type`, in the subset's format. Keywords of other types are left out. */
export const typedKeywords = (schema: JsonObject, type: SchemaType, place: SchemaPlace, clean: Clean): JsonObject => {
  switch (type) {
    case 'string':
      return { ...strings(schema), ...formatOf(schema, stringFormats, place), ...enumOf(schema, type, place) };
    case 'integer':
      return { ...numbers(schema, place), ...formatOf(schema, integerFormats, place), ...enumOf(schema, type, place) };
    case 'number':
      return { ...numbers(schema, place), ...formatOf(schema, numberFormats, place), ...enumOf(schema, type, place) };
    case 'boolean':
      return enumOf(schema, type, place);
    case 'array':
      return arrays(schema, place, clean);
    case 'object':
      return objects(schema, place, clean);
    case 'null':
      return {};
    default:
      return type satisfies never;
  }
};

const stringFormats: ReadonlySet<string> = new Set(['enum', 'date-time']);
const integerFormats: ReadonlySet<string> = new Set(['int32', 'int64']);
const numberFormats: ReadonlySet<string> = new Set(['float', 'double']);

const formatOf = ({ format }: JsonObject, allowed: ReadonlySet<string>, { at, losses }: SchemaPlace): JsonObject => {
  if (typeof format !== 'string') return {};
  if (allowed.has(format)) return { format };
  losses.drop(`${at}.format`, format);
  return {};
};

const strings = (schema: JsonObject): JsonObject => ({
  ...counts(schema, ['minLength', 'maxLength']),
  ...(typeof schema.pattern === 'string' && { pattern: schema.pattern }),
});

const counts = (schema: JsonObject, keywords: readonly string[]): JsonObject =>
  Object.fromEntries(
    keywords.filter((keyword) => isCount(schema[keyword])).map((keyword) => [keyword, schema[keyword]]),
  );

const isCount = (value: Json | undefined): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;

const numbers = (schema: JsonObject, { at, losses }: SchemaPlace): JsonObject => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (exclusiveMinimum !== undefined) losses.approximate(`${at}.exclusiveMinimum`, 'minimum');
  if (exclusiveMaximum !== undefined) losses.approximate(`${at}.exclusiveMaximum`, 'maximum');
  const lower = [minimum, exclusiveMinimum].filter((value) => typeof value === 'number');
  const upper = [maximum, exclusiveMaximum].filter((value) => typeof value === 'number');
  return {
    ...(lower.length > 0 && { minimum: Math.max(...lower) }),
    ...(upper.length > 0 && { maximum: Math.min(...upper) }),
  };
};

/** `enum` allows only non-empty strings: other values are listed in the description, which the model reads too. */
const enumOf = (schema: JsonObject, type: SchemaType, { at, losses }: SchemaPlace): JsonObject => {
  const keyword = Array.isArray(schema.enum) ? 'enum' : 'const';
  const given = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? [] : [schema.const];
  const values = given.filter((value) => value !== null);
  const texts = values.filter((value) => typeof value === 'string');
  const listed = type === 'string' ? [...new Set(texts.filter((text) => text !== ''))] : [];
  if (listed.length === values.length) return listed.length > 0 ? { enum: listed } : {};
  losses.approximate(`${at}.${keyword}`, 'values other than non-empty texts are listed in the description');
  const note = `Allowed values: ${values.map((value) => JSON.stringify(value)).join(', ')}.`;
  const description = typeof schema.description === 'string' ? `${schema.description}\n${note}` : note;
  return { description };
};

const arrays = (schema: JsonObject, place: SchemaPlace, clean: Clean): JsonObject => {
  const { items, prefixItems } = schema;
  const limits = counts(schema, ['minItems', 'maxItems']);
  const inside = below(place, 'items');
  const listed = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : undefined;
  if (!listed) return { items: clean(items, inside), ...limits };
  place.losses.approximate(
    `${place.at}.${Array.isArray(items) ? 'items' : 'prefixItems'}`,
    'items of any of these kinds',
  );
  const kinds = isJsonObject(items) ? [...listed, items] : listed;
  return { items: clean(kinds.length > 1 ? { anyOf: kinds } : kinds[0], inside), ...limits };
};

const objects = (schema: JsonObject, place: SchemaPlace, clean: Clean): JsonObject => {
  const { at, losses } = place;
  const given = isJsonObject(schema.properties) ? schema.properties : {};
  const properties = Object.fromEntries(
    Object.entries(given).flatMap(([name, property]) => {
      const inside = below(place, `properties.${name}`);
      if (property !== false) return [[name, clean(property, inside)]];
      losses.drop(inside.at, 'a forbidden property');
      return [];
    }),
  );
  const names = (member: Json | undefined): readonly string[] =>
    [...new Set(Array.isArray(member) ? member : [])].filter((name) => typeof name === 'string');
  const isThere = (name: string): boolean => Object.hasOwn(properties, name);
  const required = names(schema.required).filter(isThere);
  if (required.length < names(schema.required).length) losses.drop(`${at}.required`, 'names without a property');
  const ordering = names(schema.propertyOrdering).filter(isThere);
  return {
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(ordering.length > 0 && { propertyOrdering: ordering }),
    ...counts(schema, ['minProperties', 'maxProperties']),
  };
};
