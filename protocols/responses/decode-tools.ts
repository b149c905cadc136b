import { fail } from '../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../engine/model/json.ts';
import type { CustomTool, Extra, FunctionTool, Namespace, Tool, ToolChoice } from '../../engine/model/request.ts';
import { memberPath, reader } from '../../engine/model/schema.ts';
import { FlatNames } from './flat-names.ts';
import {
  AllowedChoice,
  AnyTool,
  CustomToolItem,
  FunctionToolItem,
  NamedChoice,
  NamespaceToolItem,
  WebSearchToolItem,
} from './schema.ts';
import { asJsonObject, unread } from './unread.ts';

const anyReader = reader(AnyTool);
const functionReader = reader(FunctionToolItem);
const customReader = reader(CustomToolItem);
const namespaceReader = reader(NamespaceToolItem);
const webSearchReader = reader(WebSearchToolItem);
const namedReader = reader(NamedChoice);
const allowedReader = reader(AllowedChoice);

/** The request's tools, and by which name the model knows each. */
export interface DecodedTools {
  readonly tools: readonly Tool[];
  /** The model's name of a tool that the client calls so. */
  readonly nameOf: (name: string, namespace?: string | null) => string;
}

/**
 * The `tools` list → tools. Those of a namespace become tools of their own under a flat name. Throws an `invalid-request`
 * fault. Source: OpenAI API reference, "Create a model response", `tools`.
 */
export const decodeTools = (list: readonly object[]): DecodedTools => {
  const places = list.map((tool, index) => {
    const at = `tools[${index}]`;
    return { tool, at, type: anyReader.read(tool, at).type };
  });
  const plain = places.flatMap(({ tool, type }) => (isNamed(type) && 'name' in tool ? [String(tool.name)] : []));
  const flat = new FlatNames(plain);
  const tools = places.flatMap(({ tool, at, type }) =>
    type === 'namespace' ? decodeNamespace(tool, at, flat) : [decodeTool(tool, type, at)],
  );
  return { tools, nameOf: (name, namespace) => (namespace ? flat.of(namespace, name) : name) };
};

const isNamed = (type: string): boolean => type === 'function' || type === 'custom';

const decodeTool = (tool: object, type: string, at: string): Tool => {
  if (type === 'function') return decodeFunction(tool, at);
  if (type === 'custom') return decodeCustom(tool, at);
  const raw = asJsonObject(tool);
  if (type.startsWith('web_search')) return decodeWebSearch(tool, raw, at);
  return {
    type: 'hosted',
    wire: 'responses',
    kind: type,
    raw,
    at,
    ...(typeof raw.name === 'string' && { name: raw.name }),
  };
};

const decodeFunction = (tool: object, at: string): FunctionTool => {
  const { name, description, parameters, strict } = functionReader.read(tool, at);
  const extra = unread(tool, ['type', 'name', 'description', 'parameters', 'strict'], at);
  return {
    type: 'function',
    name,
    ...(description && { description }),
    ...(parameters && { parameters: asJsonObject(parameters) }),
    ...(typeof strict === 'boolean' && { strict }),
    at,
    ...(extra && { extra }),
  };
};

const decodeCustom = (tool: object, at: string): CustomTool => {
  const { name, description, format } = customReader.read(tool, at);
  const extra = unread(tool, ['type', 'name', 'description', 'format'], at);
  return {
    type: 'custom',
    name,
    ...(description && { description }),
    ...(format && { format: asJsonObject(format) }),
    at,
    ...(extra && { extra }),
  };
};

const decodeNamespace = (group: object, at: string, flat: FlatNames): readonly Tool[] => {
  const { name: space, description, tools } = namespaceReader.read(group, at);
  // The group has no node of its own; only its own wire format has a place for what it says.
  const outer = unread(group, ['type', 'name', 'tools'], at);
  return tools.map((tool, index) => {
    const place = memberPath(memberPath(at, 'tools'), index);
    const decoded = decodeTool(tool, anyReader.read(tool, place).type, place);
    if (decoded.type !== 'function' && decoded.type !== 'custom') return decoded;
    const namespace: Namespace = { name: space, local: decoded.name, ...(description && { description }) };
    const extra: Extra | undefined = outer
      ? { wire: 'responses', at: place, fields: {}, ...decoded.extra, outer }
      : decoded.extra;
    return { ...decoded, name: flat.of(space, decoded.name), namespace, ...(extra && { extra }) };
  });
};

const decodeWebSearch = (tool: object, raw: JsonObject, at: string): Tool => {
  const { filters, search_context_size: contextSize, user_location: userLocation } = webSearchReader.read(tool, at);
  const extra = unread(tool, searchMembers, at);
  return {
    type: 'web-search',
    ...(filters?.allowed_domains && { allowedDomains: filters.allowed_domains }),
    ...(filters?.blocked_domains && { blockedDomains: filters.blocked_domains }),
    ...(contextSize && { contextSize }),
    ...(userLocation && { userLocation: asJsonObject(userLocation) }),
    raw: { wire: 'responses', value: raw },
    at,
    ...(extra && { extra }),
  };
};

const searchMembers = ['type', 'filters', 'search_context_size', 'user_location'];

/** `tool_choice` → choice. Throws an `invalid-request` fault for a choice of a tool that isn't there. */
export const decodeToolChoice = (choice: string | object, { tools, nameOf }: DecodedTools): ToolChoice => {
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { type: choice };
  const value = isJsonObject(choice) ? choice : {};
  switch (value.type) {
    case 'function':
    case 'custom': {
      const { name, namespace } = namedReader.read(value, 'tool_choice');
      return { type: 'tool', name: known(nameOf(name, namespace), tools, 'tool_choice.name') };
    }
    case 'allowed_tools': {
      const { mode, tools: allowed } = allowedReader.read(value, 'tool_choice');
      const names = allowed.flatMap(({ type, name }) => (isNamed(type) && name ? [name] : []));
      // A hosted tool has no name by which the model could know it.
      if (names.length < allowed.length) return { type: 'opaque', wire: 'responses', value };
      return {
        type: 'allowed',
        required: mode === 'required',
        names: names.map((name, index) => known(name, tools, `tool_choice.tools[${index}].name`)),
      };
    }
    default:
      return typeof value.type === 'string'
        ? { type: 'opaque', wire: 'responses', value }
        : fail('invalid-request', 'tool_choice.type is required.', { param: 'tool_choice.type' });
  }
};

const known = (name: string, tools: readonly Tool[], param: string): string => {
  if (tools.some((tool) => isNamed(tool.type) && 'name' in tool && tool.name === name)) return name;
  const local = tools.find((tool) => 'namespace' in tool && tool.namespace?.local === name);
  if (local && 'name' in local && local.name) return local.name;
  return fail('invalid-request', `${param}: there is no tool named '${name}'.`, { param });
};
