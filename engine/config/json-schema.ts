import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { ConfigFile } from './schema.ts';
import { textFields } from './sections/service-settings.ts';
import { writeAtomically } from './write-atomically.ts';

/** What `$schema` names in a new `config.json`. A copy beside the file works offline and however the gateway is installed. */
export const schemaReference = './config.schema.json';

/** JSON Schema of `config.json` as written, for editors: a reference is allowed wherever the service reads text. */
export const configSchema = (): JsonObject => {
  const definitions: Record<string, Json> = {};
  /** Takes out the definitions: several members have the same, and a document has each once. */
  const withoutDefinitions = (_: string, value: Json): Json => {
    if (!isJsonObject(value) || !isJsonObject(value.$defs)) return value;
    const { $defs, ...rest } = value;
    Object.assign(definitions, $defs);
    return rest;
  };
  // Serializing drops typebox's symbols.
  const { properties, ...rest }: { readonly properties: JsonObject } = JSON.parse(
    JSON.stringify(ConfigFile),
    withoutDefinitions,
  );
  const written = Object.entries(properties).map(([name, field]) => [
    name,
    textFields.has(name) && isJsonObject(field) ? orReference(field) : field,
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Junctor configuration',
    ...rest,
    properties: Object.fromEntries(written),
    $defs: definitions,
  };
};

/** A text with a reference to the environment. `minimum` and the like don't apply to it. */
const reference = { type: 'string', pattern: '\\$' };

const orReference = (field: JsonObject): JsonObject => {
  const { type, anyOf }: { readonly type?: Json; readonly anyOf?: Json } = field;
  if (Array.isArray(anyOf)) return { ...field, anyOf: [...anyOf, reference] };
  return type === 'string' || type === undefined
    ? field
    : { ...field, type: [type, 'string'], pattern: reference.pattern };
};

/** The schema as the text of a file. */
export const schemaText = (): string => JSON.stringify(configSchema(), null, 2);

/** Writes the schema into the configuration's folder, unless this version's is there. Rejects with the system's error. */
export const writeSchema = async (home: string): Promise<void> => {
  const file = join(home, schemaReference);
  const text = `${schemaText()}\n`;
  if ((await readFile(file, 'utf8').catch(() => undefined)) !== text) await writeAtomically(file, text);
};
