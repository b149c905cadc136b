import { Pointer } from 'typebox/value';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../model/json/json.ts';
import type { FunctionTool, ModelRequest, Part, ToolChoice } from '../../model/request.ts';

/** A request's tools that its client runs. */
export const functionsOf = ({ tools }: ModelRequest): readonly FunctionTool[] =>
  tools.filter((tool) => tool.type === 'function');

/** The text parts, joined by line feeds. */
export const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/**
 * Chooses the tools to call: those required by the request, or named by the user ("call get_weather", "use the tool", "call
 * all tools"). Empty: answer with text.
 */
export const chooseTools = (request: ModelRequest): readonly FunctionTool[] => {
  const { turns, toolChoice: choice, parallelToolCalls: parallel } = request;
  const tools = allowedTools(request);
  const last = turns.at(-1);
  if (choice?.type === 'none' || tools.length === 0 || !last) return [];
  const asked = last.role === 'user' ? askedTools(textOf(last.parts), tools) : [];
  // By default prefer a tool that ends the conversation, so that an agent doesn't loop.
  const chosen =
    asked.length > 0 || !mustCall(choice) ? asked : [...tools.filter(endsConversation), ...tools].slice(0, 1);
  return parallel === false ? chosen.slice(0, 1) : chosen;
};

/** Whether a tool ends the conversation, with the answer as its argument. */
export const endsConversation = ({ name }: FunctionTool): boolean => /^(exit|final|finish|done)/i.test(name);

const allowedTools = (request: ModelRequest): readonly FunctionTool[] => {
  const { toolChoice: choice } = request;
  const tools = functionsOf(request);
  if (choice?.type === 'tool') return tools.filter(({ name }) => name === choice.name);
  return choice?.type === 'allowed' ? tools.filter(({ name }) => choice.names.includes(name)) : tools;
};

const mustCall = (choice: ToolChoice | undefined): boolean =>
  choice?.type === 'required' || choice?.type === 'tool' || (choice?.type === 'allowed' && choice.required);

const askedTools = (text: string, tools: readonly FunctionTool[]): readonly FunctionTool[] => {
  if (!/\b(call|use|run|invoke|try)\b/i.test(text)) return [];
  const named = tools.filter(({ name }) => containsWord(text, name));
  if (named.length > 0) return named;
  if (!/\b(tool|function)s?\b/i.test(text)) return [];
  return /\b(all|both|each|every)\b/i.test(text) ? tools : tools.slice(0, 1);
};

const containsWord = (text: string, word: string): boolean => {
  const at = text.toLowerCase().indexOf(word.toLowerCase());
  const around = at < 0 ? 'x' : `${text[at - 1] ?? ''}${text[at + word.length] ?? ''}`;
  return !/\w/.test(around);
};

/** Maximum depth; schemas may be recursive. */
const maxDepth = 8;

/**
 * Builds a minimal value for a JSON Schema: required members only, the first of several alternatives, within limits. `pattern` is
 * ignored.
 */
export const exampleValue = (schema: unknown): Json => build(schema, 'value', isJsonObject(schema) ? schema : {}, 0);

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

/** The value from `const`, `enum`, `default` or `examples`, if any. */
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
  const minimum = numberOf(schema.minimum, numberOf(schema.exclusiveMinimum, 0) + 1);
  const maximum = numberOf(schema.maximum, numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY));
  const wanted = schema.minimum === undefined && maximum < minimum ? maximum - 1 : minimum;
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

/** The schema's `type`, or the one that its keywords imply. */
const typeOf = ({ type, properties, required, items }: JsonObject): string | undefined => {
  if (typeof type === 'string') return type;
  const named = arrayOf(type).find((name) => typeof name === 'string' && name !== 'null');
  if (typeof named === 'string') return named;
  if (properties !== undefined || required !== undefined) return 'object';
  return items === undefined ? undefined : 'array';
};

/** Resolves a local reference (`#/$defs/place`). */
const resolve = (reference: string, root: JsonObject): unknown => Pointer.Get(root, reference.slice(1));

const numberOf = (value: Json | undefined, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;
const arrayOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
