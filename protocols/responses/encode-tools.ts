import { fail } from '../../engine/model/fault.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type {
  CustomTool,
  FunctionTool,
  HostedTool,
  ModelRequest,
  ToolChoice,
  WebSearchTool,
} from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';
import type { Encoding } from './encoding.ts';
import { keepExtra } from './keep-extra.ts';

/**
 * Tools and what is said of their use → members of the body; none at all when no tool is left. Throws an `unsupported` fault
 * for a hosted tool without which the client would get a wrong result unnoticed.
 */
export const encodeToolMembers = (request: ModelRequest, encoding: Encoding): JsonObject => {
  const tools = encodeTools(request, encoding);
  if (tools.length === 0) {
    if (request.toolChoice && request.toolChoice.type !== 'auto') encoding.losses.drop('tool_choice', 'no tools');
    if (request.parallelToolCalls === false) encoding.losses.drop('parallel_tool_calls', 'no tools');
    return {};
  }
  const choice = request.toolChoice && encodeChoice(request.toolChoice, encoding);
  return {
    tools,
    ...(choice !== undefined && { tool_choice: choice }),
    ...(request.parallelToolCalls !== undefined && { parallel_tool_calls: request.parallelToolCalls }),
  };
};

const encodeTools = ({ tools }: ModelRequest, encoding: Encoding): readonly JsonObject[] => {
  const written: JsonObject[] = [];
  const groups = new Map<string, JsonObject[]>();
  for (const tool of tools) {
    if (tool.type === 'function' || tool.type === 'custom') {
      const wire = tool.type === 'function' ? encodeFunction(tool, encoding) : encodeCustom(tool, encoding);
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
      const wire = tool.type === 'web-search' ? encodeWebSearch(tool, encoding) : encodeHosted(tool, encoding);
      if (wire) written.push(wire);
    }
  }
  return written;
};

/** Without a word on it the vendor would hold calls to the schema, which then has to be of a stricter kind. */
const encodeFunction = (tool: FunctionTool, encoding: Encoding): JsonObject => {
  if (tool.cache) encoding.losses.drop(`${tool.at ?? 'tools'}.cache_control`);
  return {
    type: 'function',
    name: encoding.tool(tool.name).name,
    ...(tool.description !== undefined && { description: tool.description }),
    parameters: tool.parameters ?? { type: 'object', properties: {} },
    ...(tool.strict === undefined && encoding.ownClient ? {} : { strict: tool.strict ?? false }),
    ...keepExtra(tool.extra, encoding.losses),
  };
};

const encodeCustom = (tool: CustomTool, encoding: Encoding): JsonObject => ({
  type: 'custom',
  name: encoding.tool(tool.name).name,
  ...(tool.description !== undefined && { description: tool.description }),
  ...(tool.format && { format: tool.format }),
  ...keepExtra(tool.extra, encoding.losses),
});

const encodeWebSearch = (tool: WebSearchTool, { losses }: Encoding): JsonObject => {
  if (tool.raw.wire === 'responses') return tool.raw.value;
  const at = tool.at ?? 'tools';
  if (tool.maxUses !== undefined) losses.drop(memberPath(at, 'max_uses'));
  if (tool.blockedDomains?.length) losses.drop(memberPath(at, 'blocked_domains'));
  keepExtra(tool.extra, losses);
  return {
    type: 'web_search',
    ...(tool.allowedDomains?.length && { filters: { allowed_domains: tool.allowedDomains } }),
    ...(tool.contextSize && { search_context_size: tool.contextSize }),
    ...(tool.userLocation && { user_location: tool.userLocation }),
  };
};

/** Another vendor's hosted tools: one has a counterpart, some would leave the client waiting, the rest only help. */
const encodeHosted = (tool: HostedTool, { losses }: Encoding): JsonObject | undefined => {
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

const encodeChoice = (choice: ToolChoice, encoding: Encoding): JsonObject | string | undefined => {
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type;
    case 'tool':
      return named(choice.name, encoding);
    case 'allowed': {
      const tools = choice.names.map((name) => named(name, encoding));
      return { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools };
    }
    case 'opaque':
      if (choice.wire === 'responses') return asChoice(choice.value);
      encoding.losses.drop('tool_choice', 'a choice that only another protocol knows');
      return undefined;
    default:
      return choice satisfies never;
  }
};

const asChoice = (value: unknown): JsonObject | string | undefined =>
  typeof value === 'string' || isObject(value) ? value : undefined;

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

const named = (toolName: string, encoding: Encoding): JsonDraft => {
  const { kind, name, namespace } = encoding.tool(toolName);
  return { type: kind, name, ...(namespace !== undefined && { namespace }) };
};
