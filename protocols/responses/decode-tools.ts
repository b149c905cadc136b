import { fail } from '../../engine/model/fault.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import type { CustomTool, Extra, FunctionTool, Namespace, Tool, ToolChoice } from '../../engine/model/request.ts';
import { memberPath, reader } from '../../engine/model/schema.ts';
import { toolsByName } from '../../engine/model/wire/tool-names.ts';
import { extraOf } from './decode-content.ts';
import {
  AllowedChoice,
  AnyTool,
  CustomToolItem,
  FunctionToolItem,
  NamedChoice,
  NamespaceToolItem,
  WebSearchToolItem,
} from './schema-request.ts';
import { FlatNames } from './tool-names.ts';

const anyReader = reader(AnyTool);
const functionReader = reader(FunctionToolItem);
const customReader = reader(CustomToolItem);
const namespaceReader = reader(NamespaceToolItem);
const webSearchReader = reader(WebSearchToolItem);
const namedReader = reader(NamedChoice);
const allowedReader = reader(AllowedChoice);

/** The request's tools, and the names that the model sees. */
export interface DecodedTools {
  readonly tools: readonly Tool[];
  /** The model's name of a client's tool. */
  readonly nameOf: (name: string, namespace?: string | null) => string;
}

/**
 * Decodes the `tools` list. A namespace's tools become separate tools under flat names. Throws an `invalid-request`
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
  const extra = extraOf(tool, ['type', 'name', 'description', 'parameters', 'strict'], at);
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
  const extra = extraOf(tool, ['type', 'name', 'description', 'format'], at);
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
  // A namespace is no tool itself; only this format can hold its members.
  const outer = extraOf(group, ['type', 'name', 'tools'], at);
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
  const extra = extraOf(tool, searchMembers, at);
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

/** Decodes `tool_choice`. Throws an `invalid-request` fault for an undeclared tool. */
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
      // The model has no name for a hosted tool.
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
  if (toolsByName(tools).has(name)) return name;
  const local = tools.find((tool) => 'namespace' in tool && tool.namespace?.local === name);
  if (local && 'name' in local && local.name) return local.name;
  return fail('invalid-request', `${param}: there is no tool named '${name}'.`, { param });
};
