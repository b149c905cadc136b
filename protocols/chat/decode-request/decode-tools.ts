import { fail, quoted, unsupported } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Extra, FunctionTool, Tool, ToolChoice, WebSearchTool } from '../../../engine/model/request.ts';
import { reader } from '../../../engine/model/schema.ts';
import { cacheMark, extraOf, unknownMembers } from './decode-content.ts';
import { AllowedChoice, FunctionToolBody, NamedChoice, WebSearchBody } from './schema-request.ts';

const functionTool = reader(FunctionToolBody);
const webSearch = reader(WebSearchBody);
const namedChoice = reader(NamedChoice);
const allowedChoice = reader(AllowedChoice);
const searchMembers = new Set(['type', ...Object.keys(WebSearchBody.properties)]);
const toolMembers = new Set(['type', 'function', 'cache_control']);
const functionMembers = new Set(['name', 'description', 'parameters', 'strict']);

/**
 * `tools`, `web_search_options` and converted `functions` → tools. Throws for unsupported kinds and duplicate names.
 */
export const decodeTools = (
  tools: readonly JsonObject[],
  searchOptions: JsonObject | null | undefined,
  functions: readonly FunctionTool[],
): readonly Tool[] => {
  const decoded = [...tools.map((tool, index) => decodeTool(tool, `tools[${index}]`)), ...functions];
  refuseDuplicates(decoded, functions);
  return searchOptions ? [...decoded, decodeWebSearch(searchOptions, 'web_search_options')] : decoded;
};

const refuseDuplicates = (tools: readonly Tool[], functions: readonly FunctionTool[]): void => {
  const names = new Set<string>();
  for (const tool of tools) {
    if (tool.type !== 'function') continue;
    const param = functions.includes(tool) ? `${tool.at}.name` : `${tool.at}.function.name`;
    if (names.has(tool.name)) fail('invalid-request', `${param} "${tool.name}" is given twice.`, { param });
    names.add(tool.name);
  }
};

const decodeTool = (tool: JsonObject, at: string): Tool => {
  if (tool.type === 'function') {
    const { function: body, cache_control } = functionTool.read(tool, at);
    return {
      type: 'function',
      name: body.name,
      description: body.description ?? undefined,
      parameters: body.parameters ?? undefined,
      strict: body.strict ?? undefined,
      cache: cacheMark(cache_control),
      at,
      extra: toolExtra(tool, unknownMembers(body, functionMembers), at),
    };
  }
  if (typeof tool.type === 'string' && tool.type.startsWith('web_search')) return decodeWebSearch(tool, at);
  const param = `${at}.type`;
  if (typeof tool.type !== 'string') return fail('invalid-request', `${param} must be string.`, { param });
  return unsupported(param, `${param} "${tool.type.slice(0, 64)}" is not supported on this route.`);
};

/** A tool's unknown members, with those of its inner object nested. */
const toolExtra = (tool: JsonObject, inner: JsonObject | undefined, at: string): Extra | undefined => {
  const outer = unknownMembers(tool, toolMembers);
  return inner || outer ? { wire: 'chat', at, fields: { ...outer, ...(inner && { function: inner }) } } : undefined;
};

const decodeWebSearch = (raw: JsonObject, at: string): WebSearchTool => {
  const { search_context_size, user_location, filters, max_uses } = webSearch.read(raw, at);
  return {
    type: 'web-search',
    maxUses: max_uses ?? undefined,
    allowedDomains: filters?.allowed_domains ?? undefined,
    blockedDomains: filters?.blocked_domains ?? undefined,
    userLocation: user_location ? flatLocation(user_location) : undefined,
    contextSize: search_context_size ?? undefined,
    raw: { wire: 'chat', value: raw },
    at,
    extra: extraOf(raw, searchMembers, at),
  };
};

/** The model keeps the location's members beside `type`; this format nests them in `approximate`. */
const flatLocation = (location: JsonObject): JsonObject =>
  isJsonObject(location.approximate) ? { type: 'approximate', ...location.approximate } : location;

/**
 * The reference's words, and two of vendors: `any` is Mistral's `required`; `validated` is Gemini's `auto` with calls that fit their
 * schemas, as Copilot CLI 1.0 asks of its models.
 */
const choiceWords: ReadonlyMap<string, ToolChoice> = new Map([
  ['none', { type: 'none' }],
  ['auto', { type: 'auto' }],
  ['validated', { type: 'auto' }],
  ['required', { type: 'required' }],
  ['any', { type: 'required' }],
]);

/** `tool_choice` → choice. Throws for an invalid value. */
export const decodeToolChoice = (choice: string | JsonObject): ToolChoice => {
  if (typeof choice === 'string') {
    const known = choiceWords.get(choice);
    if (known) return known;
    return fail('invalid-request', `tool_choice must be none, auto, required or an object, not ${quoted(choice)}.`, {
      param: 'tool_choice',
    });
  }
  switch (choice.type) {
    case 'function':
      return { type: 'tool', name: namedChoice.read(choice, 'tool_choice').function.name };
    case 'allowed_tools': {
      const { mode, tools } = allowedChoice.read(choice, 'tool_choice').allowed_tools;
      return { type: 'allowed', required: mode === 'required', names: tools.map(allowedName) };
    }
    default:
      if (typeof choice.type === 'string' && choice.type.startsWith('web_search')) {
        return { type: 'opaque', wire: 'chat', value: choice };
      }
      return fail('invalid-request', 'tool_choice.type must be function or allowed_tools.', {
        param: 'tool_choice.type',
      });
  }
};

const allowedName = (tool: JsonObject, index: number): string => {
  const at = `tool_choice.allowed_tools.tools[${index}]`;
  return namedChoice.read(tool, at).function.name;
};
