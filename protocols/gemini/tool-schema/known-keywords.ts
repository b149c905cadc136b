import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { memberPath } from '../../../engine/model/schema.ts';
import { mergeAllSchemas } from '../../../engine/model/wire/merge-schemas.ts';

/** Where the schemas are in the value of a keyword. */
type SchemaShape = 'nothing' | 'one' | 'list' | 'by-name';

/** The keywords of `parametersJsonSchema`; the API refuses others. Source: Gemini API reference, "Schema", as of November 2026. */
const keywords: ReadonlyMap<string, SchemaShape> = new Map<string, SchemaShape>([
  ...[
    ...['type', 'required', 'enum', 'minItems', 'maxItems', 'minimum', 'maximum', '$ref', '$id', '$anchor'],
    ...['title', 'description', 'format'],
  ].map((name) => [name, 'nothing'] as const),
  ['additionalProperties', 'one'],
  ['items', 'one'],
  ['anyOf', 'list'],
  ['oneOf', 'list'],
  ['prefixItems', 'list'],
  ['properties', 'by-name'],
  ['$defs', 'by-name'],
]);

/** Keywords that say the same in another form. */
const reword = (schema: JsonObject): JsonObject => {
  const { $schema: _, allOf, const: only, definitions, ...plain } = schema;
  const parts = Array.isArray(allOf) ? allOf.filter(isJsonObject) : [];
  const whole = parts.length > 0 ? mergeAllSchemas([plain, ...parts]) : plain;
  return {
    ...whole,
    ...(only !== undefined && whole.enum === undefined && { enum: [only] }),
    ...(isJsonObject(definitions) && { $defs: { ...definitions, ...(isJsonObject(whole.$defs) && whole.$defs) } }),
    ...(typeof whole.$ref === 'string' && { $ref: whole.$ref.replace(/^#\/definitions\//, '#/$defs/') }),
  };
};

/** A JSON Schema with the API's keywords alone. What no keyword says is lost. */
export const withKnownKeywords = (schema: JsonObject, at: string, losses: Losses): JsonObject => {
  const kept: JsonDraft = {};
  for (const [name, value] of Object.entries(reword(schema))) {
    if (value === undefined) continue;
    const path = memberPath(at, name);
    const shape = keywords.get(name);
    const bound = bounds.get(name);
    if (shape !== undefined) kept[name] = inner(value, shape, path, losses);
    else if (bound !== undefined && typeof value === 'number') {
      losses.approximate(path, bound);
      kept[bound] ??= value;
    } else losses.drop(path);
  }
  return kept;
};

const bounds: ReadonlyMap<string, string> = new Map([
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
]);

const inner = (value: Json, shape: SchemaShape, at: string, losses: Losses): Json => {
  switch (shape) {
    case 'nothing':
      return value;
    case 'one':
      return isJsonObject(value) ? withKnownKeywords(value, at, losses) : value;
    case 'list':
      return Array.isArray(value)
        ? value.map((one: Json, index) => inner(one, 'one', memberPath(at, index), losses))
        : value;
    case 'by-name':
      return isJsonObject(value)
        ? Object.fromEntries(
            Object.entries(value).map(([name, one]) => [
              name,
              one === undefined ? one : inner(one, 'one', memberPath(at, name), losses),
            ]),
          )
        : value;
    default:
      return shape satisfies never;
  }
};
