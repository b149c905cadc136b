import { dropExtra } from '../../engine/model/drop-extra.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import { isJsonObject } from '../../engine/model/json.ts';
import type { CustomTool, FunctionTool } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';
import { cleanSchema } from './clean-schema.ts';
import type { ContentContext } from './encode-parts.ts';
import { dropMarks } from './losses.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { objectOf } from './root-schema.ts';
import { wireName } from './tool-name.ts';

/** A tool of the client's → its declaration. A tool called with free text becomes a function with one text. */
export const encodeFunction = (tool: FunctionTool | CustomTool, context: ContentContext): JsonObject => {
  const at = tool.at ?? 'tools';
  const { losses, names } = context;
  const wire: JsonDraft = { name: wireName(names, tool.name) };
  if (tool.type === 'custom') {
    losses.approximate(at, 'a function with one text `input`');
    dropExtra(tool.extra, losses);
    const description = [tool.description, grammarNote(tool.format)].filter((text) => text).join('\n\n');
    if (description !== '') wire.description = description;
    return { ...wire, ...parameters(customParameters, at, context) };
  }
  dropMarks(tool, at, losses);
  if (tool.strict) losses.drop(memberPath(at, 'strict'));
  if (tool.description) wire.description = tool.description;
  return { ...wire, ...parameters(tool.parameters, memberPath(at, 'parameters'), context) };
};

const customParameters: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
};

const grammarNote = (format: JsonObject | undefined): string =>
  typeof format?.definition === 'string' ? `\`input\` must follow this grammar:\n${format.definition}` : '';

/** A function without arguments is declared without parameters. */
const parameters = (schema: JsonObject | undefined, at: string, { dialect, losses }: ContentContext): JsonObject => {
  if (!schema || isEmptyObject(schema)) return {};
  if (dialect.schema === 'json') return { parametersJsonSchema: { type: 'object', ...schema } };
  const cleaned = objectOf(cleanSchema(mergeSchemas({ type: 'object' }, schema), at, losses), at, losses);
  return cleaned.properties === undefined ? {} : { parameters: cleaned };
};

/** Says nothing about any argument. */
const isEmptyObject = ({ properties, ...rest }: JsonObject): boolean =>
  (!isJsonObject(properties) || Object.keys(properties).length === 0) &&
  !['anyOf', 'oneOf', 'allOf', '$ref', 'patternProperties', 'propertyNames'].some(
    (keyword) => rest[keyword] !== undefined,
  ) &&
  !isJsonObject(rest.additionalProperties);
