import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../engine/model/json.ts';

/**
 * A tool's parameters as the vendor takes them: an object schema that is valid under JSON Schema draft 2020-12, whose
 * `required` lists name nothing twice. The same object when nothing had to change.
 */
export const inputSchema = (parameters: JsonObject | undefined): JsonObject => {
  if (!parameters) return { type: 'object', properties: {} };
  const valid = uniqueRequired(parameters);
  return valid.type === undefined ? { type: 'object', ...valid } : valid;
};

/** Members that hold data, not schemas. */
const dataMembers: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

const uniqueRequired = (schema: JsonObject): JsonObject => {
  let draft: JsonDraft | undefined;
  for (const [name, value] of Object.entries(schema)) {
    const changed = dataMembers.has(name) ? value : name === 'required' ? unique(value) : uniqueWithin(value);
    if (changed === value) continue;
    draft ??= { ...schema };
    draft[name] = changed;
  }
  return draft ?? schema;
};

const uniqueWithin = (value: Json | undefined): Json | undefined => {
  if (isJsonObject(value)) return uniqueRequired(value);
  if (!Array.isArray(value)) return value;
  const items: readonly Json[] = value;
  const changed = items.map((item) => (isJsonObject(item) ? uniqueRequired(item) : item));
  return changed.some((item, index) => item !== items[index]) ? changed : value;
};

/** A property may be named `required`; only a list of names is the keyword. */
const unique = (value: Json | undefined): Json | undefined => {
  if (!Array.isArray(value)) return uniqueWithin(value);
  const names = [...new Set<Json>(value)];
  return names.length < value.length ? names : value;
};
