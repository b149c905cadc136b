import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { fieldTitles } from '../../config/fields/field-titles.ts';
import { pageOf, settingsOf } from '../../config/settings-of.ts';

/** A group's part of the form: a schema, and its value in the configuration. */
export interface Part {
  readonly title: string;
  readonly about: string;
  readonly schema: JsonObject;
  /** Of the object that is the group; empty: the configuration's own fields. */
  readonly path: string;
  readonly value: JsonObject;
  /** Of all its fields. */
  readonly titles: Readonly<Record<string, string>>;
}

/** The parts of the form, as the configuration's schema groups its settings; without those that have a page of their own. */
export const settingParts = (schema: JsonObject, config: JsonObject): readonly Part[] => {
  const told = isJsonObject(schema.groups) ? schema.groups : {};
  const fields = Object.entries(settingsOf(schema)).filter(([name]) => pageOf(name) === '/settings');
  const groups = new Set([...Object.keys(told), ...fields.map(([, { group }]) => String(group))]);
  return [...groups].flatMap((title) => {
    const own = fields.filter(([, { group }]) => group === title);
    return own.length === 0 ? [] : [partOf(title, String(told[title] ?? ''), own, config)];
  });
};

const partOf = (
  title: string,
  told: string,
  fields: readonly (readonly [name: string, schema: JsonObject])[],
  config: JsonObject,
): Part => {
  const [[name, only] = ['', {}]] = fields;
  if (fields.length === 1 && isJsonObject(only.properties)) {
    const value = config[name];
    return {
      title,
      about: [only.description, told, only.restart === true && afterRestart].filter(Boolean).join(' '),
      path: name,
      schema: { ...only, additionalProperties: false },
      value: isJsonObject(value) ? value : {},
      titles: fieldTitles(only),
    };
  }
  const shown = fields.map(([field, own]) => [field, withoutReference(own)] as const);
  return {
    title,
    about: told,
    path: '',
    schema: { type: 'object', additionalProperties: false, properties: Object.fromEntries(shown) },
    value: Object.fromEntries(
      fields.flatMap(([field]) => (config[field] === undefined ? [] : [[field, config[field]]])),
    ),
    titles: Object.fromEntries(fields.map(([field, own]) => [field, own.title ? `${own.title} (${field})` : field])),
  };
};

const afterRestart = 'A change takes effect after a restart.';

/** A field's schema without the reference to the environment that the file may have in place of a value. */
const withoutReference = (field: JsonObject): JsonObject => {
  const about = field.restart === true ? { description: `${field.description ?? ''} ${afterRestart}` } : {};
  const { type, anyOf } = field;
  if (Array.isArray(type)) return { ...field, ...about, type: type[0] };
  const others = Array.isArray(anyOf) && anyOf.filter((one: Json) => !(isJsonObject(one) && 'pattern' in one));
  return { ...field, ...about, ...(others && { anyOf: others }) };
};
