import type { Finding } from '../../api/config/config-file.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { sameJson } from './same-json.ts';

/**
 * Checks a value against the part of JSON Schema that options use: types, required and known members, bounds, choices,
 * patterns. Unknown keywords match anything; the gateway has the last word.
 */
export const schemaFaults = (value: Json, schema: JsonObject, path: string): readonly Finding[] => {
  const problem = problemOf(value, schema);
  if (problem !== undefined) return [{ path, message: problem }];
  if (Array.isArray(value)) {
    const { items } = schema;
    return isJsonObject(items) ? value.flatMap((item: Json, at) => schemaFaults(item, items, `${path}[${at}]`)) : [];
  }
  return isJsonObject(value) ? memberFaults(value, schema, path) : [];
};

const memberFaults = (value: JsonObject, schema: JsonObject, path: string): readonly Finding[] => {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = required
    .filter((name): name is string => typeof name === 'string' && value[name] === undefined)
    .map((name) => ({ path: `${path}.${name}`, message: 'is required' }));
  const given = Object.entries(value).flatMap(([name, member]) => {
    const own = properties[name];
    if (member === undefined) return [];
    if (isJsonObject(own)) return schemaFaults(member, own, `${path}.${name}`);
    return schema.additionalProperties === false ? [{ path: `${path}.${name}`, message: 'is unknown' }] : [];
  });
  return [...missing, ...given];
};

const problemOf = (value: Json, schema: JsonObject): string | undefined => {
  const { type, enum: choices, anyOf, minimum, maximum, minLength, maxLength, pattern } = schema;
  if (Array.isArray(anyOf)) {
    const fits = anyOf.some((one: Json) => isJsonObject(one) && schemaFaults(value, one, '').length === 0);
    return fits ? undefined : 'is not an allowed value';
  }
  if (schema.const !== undefined && !sameJson(value, schema.const)) return `must be ${JSON.stringify(schema.const)}`;
  if (Array.isArray(choices) && !choices.some((choice: Json) => sameJson(choice, value)))
    return `must be one of ${choices.map((choice: Json) => JSON.stringify(choice)).join(', ')}`;
  if (typeof type === 'string' && !(types[type]?.(value) ?? true)) return `must be ${names[type] ?? type}`;
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return `must be at least ${minimum}`;
    if (typeof maximum === 'number' && value > maximum) return `must be at most ${maximum}`;
  }
  if (typeof value === 'string') {
    if (typeof minLength === 'number' && value.length < minLength)
      return minLength === 1 ? 'must not be blank' : `must have at least ${minLength} characters`;
    if (typeof maxLength === 'number' && value.length > maxLength) return `must have at most ${maxLength} characters`;
    if (typeof pattern === 'string' && !matches(pattern, value)) return `must match ${pattern}`;
  }
  return undefined;
};

const types: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isJsonObject,
};

const names: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
};

/** A pattern that JavaScript can't compile matches anything. */
const matches = (pattern: string, value: string): boolean => {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true;
  }
};
