import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../model/json.ts';

/** How deep a schema is followed; one that refers to itself has no end. */
const maxDepth = 8;

/**
 * A small value that fits a JSON Schema: required members alone, the first of several choices, limits kept. `name` is the
 * member's own, for texts that read well. Patterns aren't followed.
 */
export const exampleValue = (schema: unknown, name = 'value'): Json =>
  build(schema, name, isJsonObject(schema) ? schema : {}, 0);

const build = (schema: unknown, name: string, root: JsonObject, depth: number): Json => {
  if (!isJsonObject(schema) || depth > maxDepth) return null;
  const within = (inner: unknown, inside = name) => build(inner, inside, root, depth + 1);
  const given = givenValue(schema);
  if (given !== undefined) return given;
  if (typeof schema.$ref === 'string') return within(resolve(schema.$ref, root));
  const choice = firstChoice(schema.anyOf) ?? firstChoice(schema.oneOf);
  if (choice !== undefined) return within({ ...schema, anyOf: undefined, oneOf: undefined, ...choice });
  if (Array.isArray(schema.allOf)) return within(mergeAll(schema, schema.allOf, root));
  switch (typeOf(schema)) {
    case 'object':
      return buildObject(schema, within);
    case 'array':
      return Array.from({ length: numberOf(schema.minItems, 0) }, () => within(schema.items, name));
    case 'integer':
    case 'number':
      return exampleNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleText(schema, name);
  }
};

/** The value that the schema itself gives, if any. */
const givenValue = (schema: JsonObject): Json | undefined => {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  return Array.isArray(schema.examples) ? schema.examples[0] : undefined;
};

const firstChoice = (choices: Json | undefined): JsonObject | undefined => {
  if (!Array.isArray(choices)) return undefined;
  return choices.filter(isJsonObject).find(({ type }) => type !== 'null');
};

const mergeAll = (schema: JsonObject, parts: readonly Json[], root: JsonObject): JsonObject => {
  const merged: JsonDraft = { ...schema, allOf: undefined };
  for (const part of parts) {
    const whole = isJsonObject(part) && typeof part.$ref === 'string' ? resolve(part.$ref, root) : part;
    if (!isJsonObject(whole)) continue;
    const required = [...arrayOf(merged.required), ...arrayOf(whole.required)];
    const properties = { ...objectOf(merged.properties), ...objectOf(whole.properties) };
    Object.assign(merged, whole, { required, properties });
  }
  return merged;
};

const buildObject = (schema: JsonObject, within: (inner: unknown, inside: string) => Json): JsonObject => {
  const properties = objectOf(schema.properties);
  const names = arrayOf(schema.required).filter((name) => typeof name === 'string');
  return Object.fromEntries(names.map((name) => [name, within(properties[name] ?? {}, name)]));
};

const exampleNumber = (schema: JsonObject): number => {
  const least = numberOf(schema.minimum, numberOf(schema.exclusiveMinimum, 0) + 1);
  const most = numberOf(schema.maximum, numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY));
  const wanted = schema.minimum === undefined && most < least ? most - 1 : least;
  const step = numberOf(schema.multipleOf, typeOf(schema) === 'integer' ? 1 : 0);
  return step > 0 ? Math.ceil(wanted / step) * step : wanted;
};

const formats: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  time: '12:00:00Z',
  'date-time': '2026-01-31T12:00:00Z',
  email: 'demo@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

const exampleText = (schema: JsonObject, name: string): string => {
  const text = (typeof schema.format === 'string' ? formats[schema.format] : undefined) ?? `example ${name}`;
  return text.slice(0, numberOf(schema.maxLength, text.length)).padEnd(numberOf(schema.minLength, 0), '.');
};

/** The type a schema names, or the one that its keywords betray. */
const typeOf = ({ type, properties, required, items }: JsonObject): string | undefined => {
  if (typeof type === 'string') return type;
  const named = arrayOf(type).find((name) => typeof name === 'string' && name !== 'null');
  if (typeof named === 'string') return named;
  if (properties !== undefined || required !== undefined) return 'object';
  return items === undefined ? undefined : 'array';
};

/** Follows a reference within the schema (`#/$defs/place`). */
const resolve = (reference: string, root: JsonObject): unknown =>
  reference
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json | undefined>((value, step) => (isJsonObject(value) ? value[step] : undefined), root);

const numberOf = (value: Json | undefined, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;
const arrayOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
