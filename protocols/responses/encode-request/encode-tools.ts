import { fail } from '../../../engine/model/fault.ts';
import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type {
  CustomTool,
  FunctionTool,
  HostedTool,
  ModelRequest,
  Tool,
  ToolChoice,
  WebSearchTool,
} from '../../../engine/model/request.ts';
import { memberPath } from '../../../engine/model/schema.ts';
import { hostedChoice } from '../../../engine/model/wire/hosted-choice.ts';
import { parametersPath, strictToolSchema, toolSchema } from '../../../engine/model/wire/tool-schema.ts';
import { originalOf } from '../built-in-tools.ts';
import { type ContentContext, encodeExtra } from './encode-content.ts';

/**
 * Encodes tools and tool choice; empty without tools. Throws an `unsupported` fault for a hosted tool whose loss
 * would silently change the result.
 */
export const encodeToolMembers = (request: ModelRequest, context: ContentContext): JsonObject => {
  const tools = encodeTools(request, context);
  if (tools.length === 0 && !request.tools.some(isInItem)) {
    if (request.toolChoice && request.toolChoice.type !== 'auto') context.losses.drop('tool_choice', 'no tools');
    if (request.parallelToolCalls === false) context.losses.drop('parallel_tool_calls', 'no tools');
    return {};
  }
  const choice = request.toolChoice && (hostedWord(request, context) ?? encodeChoice(request.toolChoice, context));
  return {
    ...(tools.length > 0 && { tools }),
    ...(choice !== undefined && { tool_choice: choice }),
    ...(request.parallelToolCalls !== undefined && { parallel_tool_calls: request.parallelToolCalls }),
  };
};

/** An item of the conversation declares it, and is written at its place. */
const isInItem = ({ at }: Tool): boolean => at?.startsWith('input[') ?? false;

const encodeTools = ({ tools, deferredTools = [] }: ModelRequest, context: ContentContext): readonly JsonObject[] => {
  const written: JsonObject[] = [];
  const groups = new Map<string, JsonObject[]>();
  for (const tool of [...tools, ...deferredTools]) {
    if (isInItem(tool)) continue;
    if (tool.type === 'function' || tool.type === 'custom') {
      const wire = tool.type === 'function' ? encodeFunction(tool, context) : encodeCustom(tool, context);
      const { namespace } = tool;
      const group = namespace && groups.get(namespace.name);
      if (namespace === undefined) written.push(wire);
      else if (group) group.push(wire);
      else {
        const members = [wire];
        const { name, description } = namespace;
        groups.set(name, members);
        const more = tool.extra?.outer?.fields;
        written.push({ type: 'namespace', name, ...(description && { description }), ...more, tools: members });
      }
    } else {
      const wire = tool.type === 'web-search' ? encodeWebSearch(tool, context) : encodeHosted(tool, context);
      if (wire) written.push(wire);
    }
  }
  return written;
};

/** Encodes a function. `strict` is always written: by default the vendor enforces a stricter kind of schema. */
const encodeFunction = (tool: FunctionTool, context: ContentContext): JsonObject => {
  const own = originalOf(tool.extra);
  if (own) return own;
  const strict = tool.strict ?? context.ownClient;
  if (tool.cache) context.losses.drop(`${tool.at ?? 'tools'}.cache_control`);
  return {
    type: 'function',
    name: context.tool(tool.name).name,
    ...(tool.description !== undefined && { description: tool.description }),
    parameters: toolSchema(
      tool.parameters,
      strict ? strictToolSchema : context.toolSchema,
      parametersPath(tool.at),
      context.losses,
    ),
    ...(tool.strict === undefined && context.ownClient ? {} : { strict: tool.strict ?? false }),
    ...encodeExtra(tool.extra, context.losses),
  };
};

const encodeCustom = (tool: CustomTool, context: ContentContext): JsonObject => ({
  type: 'custom',
  name: context.tool(tool.name).name,
  ...(tool.description !== undefined && { description: tool.description }),
  ...(tool.format && { format: tool.format }),
  ...encodeExtra(tool.extra, context.losses),
});

const encodeWebSearch = (tool: WebSearchTool, { losses }: ContentContext): JsonObject => {
  if (tool.raw.wire === 'responses') return tool.raw.value;
  const at = tool.at ?? 'tools';
  if (tool.maxUses !== undefined) losses.drop(memberPath(at, 'max_uses'));
  if (tool.blockedDomains?.length) losses.drop(memberPath(at, 'blocked_domains'));
  encodeExtra(tool.extra, losses);
  return {
    type: 'web_search',
    ...(tool.allowedDomains?.length && { filters: { allowed_domains: tool.allowedDomains } }),
    ...(tool.contextSize && { search_context_size: tool.contextSize }),
    ...(tool.userLocation && { user_location: tool.userLocation }),
  };
};

/**
 * Encodes another vendor's hosted tool: one has a counterpart, client-run ones are refused, the rest become losses.
 */
const encodeHosted = (tool: HostedTool, { losses }: ContentContext): JsonObject | undefined => {
  if (tool.wire === 'responses') return tool.raw;
  const at = tool.at ?? 'tools';
  if (/^code_execution/.test(tool.kind)) {
    losses.approximate(at, 'code_interpreter');
    return { type: 'code_interpreter', container: { type: 'auto' } };
  }
  if (/^(bash|text_editor|computer|memory)_/.test(tool.kind)) {
    return fail('unsupported', `${at}: the provider doesn't know the tool type '${tool.kind}'.`, { param: at });
  }
  losses.drop(at, `the provider has no '${tool.kind}'`);
  return undefined;
};

/** A forced hosted tool, which this format names by its type. Throws an `unsupported` fault for one that isn't sent. */
const hostedWord = (request: ModelRequest, context: ContentContext): JsonObject | undefined => {
  const hosted = request.toolChoice?.type === 'tool' ? hostedChoice(request) : undefined;
  if (!hosted) return undefined;
  const wire = hosted.type === 'web-search' ? encodeWebSearch(hosted, context) : encodeHosted(hosted, context);
  return wire
    ? { type: wire.type }
    : fail('unsupported', "tool_choice names a hosted tool that this provider doesn't have.", { param: 'tool_choice' });
};

const encodeChoice = (choice: ToolChoice, context: ContentContext): JsonObject | string | undefined => {
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type;
    case 'tool':
      return named(choice.name, context);
    case 'allowed': {
      const tools = choice.names.map((name) => named(name, context));
      return { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools };
    }
    case 'opaque':
      if (choice.wire === 'responses') return asChoice(choice.value);
      context.losses.drop('tool_choice', 'a choice specific to another protocol');
      return undefined;
    default:
      return choice satisfies never;
  }
};

const asChoice = (value: unknown): JsonObject | string | undefined =>
  typeof value === 'string' || isObject(value) ? value : undefined;

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

const named = (toolName: string, context: ContentContext): JsonDraft => {
  const { kind, name, namespace } = context.tool(toolName);
  if (kind !== 'function' && kind !== 'custom') return { type: kind };
  return { type: kind, name, ...(namespace !== undefined && { namespace }) };
};
