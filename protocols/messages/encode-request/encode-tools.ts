import type { RequestContext } from '../../../engine/model/context.ts';
import { fail } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { recordDropped } from '../../../engine/model/record-losses.ts';
import type {
  CustomTool,
  FunctionTool,
  ModelRequest,
  Tool,
  ToolChoice,
  Turn,
  WebSearchTool,
} from '../../../engine/model/request.ts';
import { describedTool } from '../../../engine/model/wire/described-tool.ts';
import { hostedChoice } from '../../../engine/model/wire/hosted-choice.ts';
import {
  anyToolSchema,
  parametersPath,
  type ToolSchemaForm,
  toolSchema,
} from '../../../engine/model/wire/tool-schema.ts';
import { wireName } from '../tool-names.ts';
import { cacheControl, ownExtra } from './encode-content.ts';

/** `tools` and `tool_choice`; both absent without tools. */
interface WireTools {
  readonly tools?: readonly JsonObject[];
  readonly tool_choice?: JsonObject;
}

/** Encodes tools and tool choice. `turns` is the history as sent upstream. */
export const encodeTools = (request: ModelRequest, turns: readonly Turn[], context: RequestContext): WireTools => {
  const { toolChoice } = request;
  const chosen = toolChoice?.type === 'allowed' ? allowed(request.tools, toolChoice, context) : request.tools;
  const wanted = oneSearch(chosen, context);
  const tools = wanted
    .map((tool, index) => encodeTool(tool, tool.at ?? `tools[${index}]`, context))
    .filter((tool) => tool !== undefined);
  if (tools.length > 0) return withChoice(tools, encodeChoice(request, context));
  if (toolChoice?.type === 'required' || toolChoice?.type === 'tool') context.losses.drop('tool_choice', 'no tools');
  if (request.parallelToolCalls === false) context.losses.drop('parallel_tool_calls', 'no tools');
  const past = pastTools(turns, context);
  return past.length > 0 ? { tools: past, tool_choice: { type: 'none' } } : {};
};

const withChoice = (tools: readonly JsonObject[], choice: JsonObject | undefined): WireTools =>
  choice ? { tools, tool_choice: choice } : { tools };

const allowed = (
  tools: readonly Tool[],
  choice: Extract<ToolChoice, { type: 'allowed' }>,
  { losses }: RequestContext,
): readonly Tool[] => {
  losses.approximate('tool_choice', 'the other tools are left out');
  const names = new Set(choice.names);
  return tools.filter((tool) => {
    const kept = 'name' in tool && tool.name !== undefined && names.has(tool.name);
    if (!kept) recordDropped(tool, 'not among the tools that may be called', losses);
    return kept;
  });
};

/** Tool names must be unique, and all searches share one. */
const oneSearch = (tools: readonly Tool[], { losses }: RequestContext): readonly Tool[] => {
  const first = tools.find((tool) => tool.type === 'web-search');
  return tools.filter((tool) => {
    const kept = tool.type !== 'web-search' || tool === first;
    if (!kept) recordDropped(tool, 'a second web search', losses);
    return kept;
  });
};

const encodeTool = (tool: Tool, at: string, context: RequestContext): JsonObject | undefined => {
  const extra = ownExtra(tool.extra, context.losses);
  switch (tool.type) {
    case 'function':
      return { ...encodeFunction(tool, context), ...extra };
    case 'custom':
      return { ...encodeCustom(tool, at, context), ...extra };
    case 'web-search':
      return encodeWebSearch(tool, at, context);
    case 'hosted':
      if (tool.wire === 'messages') return tool.raw;
      context.losses.drop(at);
      return undefined;
    default:
      return tool satisfies never;
  }
};

const encodeFunction = (tool: FunctionTool, { names, losses }: RequestContext): JsonObject => ({
  name: wireName(names, tool.name),
  description: describedTool(tool),
  input_schema: toolSchema(tool.parameters, schemaForm, parametersPath(tool.at), losses),
  strict: tool.strict,
  cache_control: cacheControl(tool.cache),
});

const encodeCustom = (tool: CustomTool, at: string, { names, losses }: RequestContext): JsonObject => {
  losses.approximate(at, 'a function with one text `input`');
  const grammar = typeof tool.format?.definition === 'string' ? tool.format.definition : undefined;
  const description = [describedTool(tool), grammar && `The input must follow this grammar:\n${grammar}`];
  return {
    name: wireName(names, tool.name),
    description: description.filter(Boolean).join('\n\n') || undefined,
    input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  };
};

const encodeWebSearch = (tool: WebSearchTool, at: string, { losses }: RequestContext): JsonObject => {
  if (tool.raw.wire === 'messages') return tool.raw.value;
  if (tool.contextSize) losses.drop(`${at}.search_context_size`);
  const both = tool.allowedDomains && tool.blockedDomains;
  if (both) losses.drop(`${at}.blocked_domains`, 'only one of the two lists may be given');
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: tool.maxUses,
    allowed_domains: tool.allowedDomains,
    blocked_domains: both ? undefined : tool.blockedDomains,
    user_location: tool.userLocation,
  };
};

/** A history with tool calls requires tools: declares those that it names, and forbids calls. */
const pastTools = (turns: readonly Turn[], { names, losses }: RequestContext): readonly JsonObject[] => {
  const called = new Set<string>();
  for (const part of turns.flatMap(({ parts }) => parts)) {
    if (part.type !== 'tool-call' || called.has(part.name)) continue;
    called.add(part.name);
    losses.approximate(part.at ?? 'tools', 'its tool is declared from the history, without parameters');
  }
  return [...called].map((name) => ({ name: wireName(names, name), input_schema: { type: 'object', properties: {} } }));
};

const encodeChoice = (request: ModelRequest, context: RequestContext): JsonObject | undefined => {
  const single = request.parallelToolCalls === false ? { disable_parallel_tool_use: true } : undefined;
  const choice = request.toolChoice;
  switch (choice?.type) {
    case undefined:
      return single && { type: 'auto', ...single };
    case 'none':
      if (single) context.losses.drop('parallel_tool_calls', 'no call is allowed');
      return { type: 'none' };
    case 'auto':
      return { type: 'auto', ...single };
    case 'required':
      return { type: 'any', ...single };
    case 'tool':
      return { type: 'tool', name: choiceName(request.tools, choice.name, context), ...single };
    case 'allowed':
      return { type: choice.required ? 'any' : 'auto', ...single };
    case 'opaque':
      return hostedChoice(request)?.type === 'web-search'
        ? { type: 'tool', name: 'web_search', ...single }
        : opaqueChoice(choice, single);
    default:
      return choice satisfies never;
  }
};

/** A vendor's own tool keeps its name, whatever the functions are called. */
const choiceName = (tools: readonly Tool[], name: string, { names }: RequestContext): string =>
  tools.some((tool) => (tool.type === 'function' || tool.type === 'custom') && tool.name === name)
    ? wireName(names, name)
    : name;

const opaqueChoice = (
  { wire, value }: Extract<ToolChoice, { type: 'opaque' }>,
  single: JsonObject | undefined,
): JsonObject =>
  wire === 'messages' && isJsonObject(value)
    ? { ...value, ...single }
    : fail('unsupported', "tool_choice names a tool that this provider doesn't have.", { param: 'tool_choice' });

/**
 * JSON Schema draft 2020-12, without alternatives at the root. Source: Anthropic API reference, "Create a Message",
 * `input_schema`, and the API's own errors, as of November 2026.
 */
const schemaForm: ToolSchemaForm = {
  ...anyToolSchema,
  rootUnion: 'merged',
  tuples: 'prefixItems',
  properties: 'optional',
};
