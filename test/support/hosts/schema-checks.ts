import { type Breach, type Check, eachTool } from './check.ts';

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema's root is an object that names its properties. Source: OpenAI, "object schema missing properties". */
export const rootObject: Check = eachTool(({ parameters }) => {
  if (parameters === undefined) return undefined;
  if (!isSchema(parameters) || parameters.type !== 'object') return 'schema must have type "object"';
  return isSchema(parameters.properties) ? undefined : 'object schema missing properties';
}, '.parameters');

/** No `anyOf`, `oneOf` or `allOf` at the root. */
export const noRootUnion: Check = eachTool(({ parameters }) => {
  const word = isSchema(parameters) ? unions.find((name) => parameters[name] !== undefined) : undefined;
  return word && `${word} is not supported at the top level`;
}, '.parameters');

const unions = ['anyOf', 'oneOf', 'allOf'] as const;

/** A rule about each schema within a tool's parameters. */
const eachSchema =
  (find: (schema: Schema) => string | undefined): Check =>
  ({ tools = [] }) =>
    tools.flatMap((tool, index) => walk(tool.function?.parameters, `tools[${index}].function.parameters`, find));

const walk = (value: unknown, path: string, find: (schema: Schema) => string | undefined): readonly Breach[] => {
  if (!isSchema(value)) return [];
  const words = find(value);
  const inner = ['properties', '$defs'].flatMap((group) =>
    Object.entries(isSchema(value[group]) ? value[group] : {}).map(([name, one]) => [`${group}.${name}`, one] as const),
  );
  const listed = [...unions, 'prefixItems'].flatMap((name) => {
    const list = value[name];
    return Array.isArray(list) ? list.map((one: unknown, index) => [`${name}[${index}]`, one] as const) : [];
  });
  return [
    ...(words === undefined ? [] : [{ path, words }]),
    ...[...inner, ...listed, ['items', value.items] as const].flatMap(([name, one]) =>
      walk(one, `${path}.${name}`, find),
    ),
  ];
};

/** Kimi's dialect: a union's branches have the type, and a tuple is `prefixItems`. */
export const moonshotSchemas: Check = eachSchema((schema) => {
  if (schema.anyOf !== undefined && schema.type !== undefined)
    return 'when using anyOf, type should be defined in anyOf items instead of the parent schema';
  return Array.isArray(schema.items) ? 'items must be a schema: a tuple is prefixItems' : undefined;
});

/** Gemini's declarations: one type for each schema, and no other keywords than these, whatever server passes them on. */
export const geminiSchemas: Check = eachSchema((schema) => {
  if (Array.isArray(schema.type)) return 'Proto field is not repeating, cannot start list.';
  const unknown = Object.keys(schema).find((name) => !geminiKeywords.has(name));
  return unknown === undefined ? undefined : `Unknown name "${unknown}": Cannot find field.`;
});

const geminiKeywords: ReadonlySet<string> = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'minItems', 'maxItems', 'properties'],
  ...['required', 'propertyOrdering', 'minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern'],
  ...['minimum', 'maximum', 'anyOf', 'default', 'example'],
]);

/** Servers that resolve no references. */
export const noReferences: Check = eachSchema((schema) =>
  schema.$ref === undefined ? undefined : `references are not resolved: ${String(schema.$ref)}`,
);
