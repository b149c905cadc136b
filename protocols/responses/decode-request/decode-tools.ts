import { fail } from '../../../engine/model/fault.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { OwnWireField } from '../../../engine/model/protocol.ts';
import type { CustomTool, Extra, FunctionTool, Namespace, Tool, ToolChoice } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { toolsByName } from '../../../engine/model/wire/tool-names.ts';
import { type BuiltInKind, builtInFunction, builtInKind } from '../built-in-tools.ts';
import { FlatNames } from '../tool-names.ts';
import { extraOf } from './decode-content.ts';
import type { ToolType } from './schema-items.ts';
import {
  AllowedChoice,
  AnyTool,
  CustomToolItem,
  FunctionToolItem,
  NamedChoice,
  NamespaceToolItem,
  WebSearchToolItem,
} from './schema-request.ts';

const anyReader = reader(AnyTool);
const functionReader = reader(FunctionToolItem);
const customReader = reader(CustomToolItem);
const namespaceReader = reader(NamespaceToolItem);
const webSearchReader = reader(WebSearchToolItem);
const namedReader = reader(NamedChoice);
const allowedReader = reader(AllowedChoice);

/** A list of tools in the request. */
export interface ToolList {
  readonly tools: readonly object[];
  readonly at: string;
  /** An item of the conversation declares them, so they may be called from there on even if their loading is deferred. */
  readonly found: boolean;
}

/** The request's tools, and the names that the model sees. */
export interface DecodedTools {
  readonly tools: readonly Tool[];
  /** Tools that no search of the client's has found yet. */
  readonly deferred: readonly Tool[];
  /** The model's name of a client's tool. */
  readonly nameOf: (name: string, namespace?: string | null) => string;
  /** The model's name of a built-in tool. */
  readonly builtInName: (kind: BuiltInKind) => string;
  /** The model's names of the tools in the list at this path. */
  readonly namesIn: (at: string) => readonly string[];
}

/** Shared state of the decoders of one request's tools. */
interface Context {
  readonly flat: FlatNames;
  readonly found: boolean;
}

/**
 * Decodes all lists of tools, in order. A namespace's tools become separate tools under flat names. A tool that an item declares
 * again replaces the earlier one in its place. Throws an `invalid-request` fault. Source: OpenAI API reference, "Create a model
 * response", `tools`.
 */
export const decodeTools = (lists: readonly ToolList[]): DecodedTools => {
  const places = lists.flatMap(({ tools: list, at: listAt, found }) =>
    list.map((tool, index) => {
      const at = memberPath(listAt, index);
      return { tool, at, listAt, found, type: anyReader.read(tool, at).type };
    }),
  );
  const plain = places.flatMap(({ tool, type }) => (isNamed(type) && 'name' in tool ? [String(tool.name)] : []));
  const flat = new FlatNames(plain);
  const decoded = places.map((place) => ({
    ...place,
    tools: decodeTool(place.tool, place.at, { flat, found: place.found }),
  }));
  const searches = decoded.some(({ tools: some }) => some.some((tool) => builtInKind(tool) === 'tool_search'));
  const tools: Tool[] = [];
  const deferred: Tool[] = [];
  const indexByName = new Map<string, number>();
  const names = new Map<string, string[]>();
  for (const { tools: some, listAt, found } of decoded) {
    for (const tool of some) {
      if (tool.type !== 'function' && tool.type !== 'custom') {
        tools.push(tool);
        continue;
      }
      if (found) names.set(listAt, [...(names.get(listAt) ?? []), tool.name]);
      const earlier = found ? indexByName.get(tool.name) : undefined;
      if (earlier !== undefined) tools[earlier] = { ...tool, at: tools[earlier]?.at };
      else if (searches && !found && tool.extra?.fields.defer_loading === true) deferred.push(tool);
      else indexByName.set(tool.name, tools.push(tool) - 1);
    }
  }
  return {
    tools,
    deferred,
    nameOf: (name, namespace) => (namespace ? flat.of(namespace, name) : name),
    builtInName: (kind) => flat.builtIn(kind),
    namesIn: (at) => names.get(at) ?? [],
  };
};

const isNamed = (type: string): boolean => type === 'function' || type === 'custom';

/** The type of a known tool; `undefined` for any other. */
const toolTypeOf = (type: unknown): ToolType | undefined => {
  if (isKnown(type)) return type;
  return typeof type === 'string' && type.startsWith('web_search') ? 'web_search' : undefined;
};

type ToolDecoder = (tool: object, at: string, context: Context) => readonly Tool[];

/** The first tool of an unknown type: other formats can't tell whether the client runs it. */
export const refusedTool = (
  lists: readonly { readonly tools: unknown; readonly at: string }[],
): OwnWireField | undefined => {
  for (const { tools, at } of lists) {
    if (!Array.isArray(tools)) continue;
    for (const [index, tool] of tools.entries()) {
      if (!isJsonObject(tool)) continue;
      const path = memberPath(at, index);
      const type = toolTypeOf(tool.type);
      if (type === undefined) return { path, why: `other formats have nothing like the tool type '${tool.type}'` };
      const inner =
        type === 'namespace' ? refusedTool([{ tools: tool.tools, at: memberPath(path, 'tools') }]) : undefined;
      if (inner) return inner;
    }
  }
  return undefined;
};

/** A tool that the vendor runs. */
const hosted: ToolDecoder = (tool, at) => {
  const raw = asJsonObject(tool);
  const kind = anyReader.read(tool, at).type;
  return [
    { type: 'hosted', wire: 'responses', kind, raw, at, ...(typeof raw.name === 'string' && { name: raw.name }) },
  ];
};

/** A tool that the client runs: a function stands for it. `isClients`: whether it is one; otherwise the vendor runs it. */
const builtIn =
  (kind: BuiltInKind, isClients: (tool: JsonObject) => boolean): ToolDecoder =>
  (tool, at, context) => {
    const raw = asJsonObject(tool);
    if (!isClients(raw)) return hosted(tool, at, context);
    const original = { objects: [raw], became: 'a function' };
    const extra: Extra = { wire: 'responses', at, fields: {}, original };
    return [{ type: 'function', name: context.flat.builtIn(kind), ...builtInFunction(kind, raw), at, extra }];
  };

const always = (): boolean => true;

/** A container is the vendor's. */
const runsLocally = ({ environment }: JsonObject): boolean =>
  !isJsonObject(environment) || environment.type === undefined || environment.type === 'local';

/** Decoders by type of tool. */
const decoders: Readonly<Record<ToolType, ToolDecoder>> = {
  function: (tool, at, { found }) => [decodeFunction(tool, at, found)],
  custom: (tool, at, { found }) => [decodeCustom(tool, at, found)],
  namespace: (tool, at, context) => decodeNamespace(tool, at, context),
  tool_search: builtIn('tool_search', ({ execution }) => execution === 'client'),
  local_shell: builtIn('local_shell', always),
  shell: builtIn('shell', runsLocally),
  apply_patch: builtIn('apply_patch', always),
  web_search: (tool, at) => [decodeWebSearch(tool, at)],
  web_search_preview: (tool, at) => [decodeWebSearch(tool, at)],
  file_search: hosted,
  code_interpreter: hosted,
  computer: hosted,
  computer_use_preview: hosted,
  image_generation: hosted,
  mcp: hosted,
  programmatic_tool_calling: hosted,
};

const isKnown = (type: unknown): type is ToolType => typeof type === 'string' && Object.hasOwn(decoders, type);

const decodeTool: ToolDecoder = (tool, at, context) => {
  const type = toolTypeOf(anyReader.read(tool, at).type);
  return type === undefined ? hosted(tool, at, context) : decoders[type](tool, at, context);
};

/** A tool that was found loses nothing with the member that deferred it. */
const besides = (found: boolean, read: readonly string[]): readonly string[] =>
  found ? [...read, 'defer_loading'] : read;

const decodeFunction = (tool: object, at: string, found: boolean): FunctionTool => {
  const { name, description, parameters, strict } = functionReader.read(tool, at);
  const extra = extraOf(tool, besides(found, ['type', 'name', 'description', 'parameters', 'strict']), at);
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

const decodeCustom = (tool: object, at: string, found: boolean): CustomTool => {
  const { name, description, format } = customReader.read(tool, at);
  const extra = extraOf(tool, besides(found, ['type', 'name', 'description', 'format']), at);
  return {
    type: 'custom',
    name,
    ...(description && { description }),
    ...(format && { format: asJsonObject(format) }),
    at,
    ...(extra && { extra }),
  };
};

const decodeNamespace = (group: object, at: string, context: Context): readonly Tool[] => {
  const { name: space, description, tools } = namespaceReader.read(group, at);
  // A namespace is no tool itself; only this format can hold its members.
  const outer = extraOf(
    group,
    description === '' ? ['type', 'name', 'tools'] : ['type', 'name', 'tools', 'description'],
    at,
  );
  return tools.flatMap((tool, index) => {
    const place = memberPath(memberPath(at, 'tools'), index);
    return decodeTool(tool, place, context).map((decoded) => {
      if ((decoded.type !== 'function' && decoded.type !== 'custom') || builtInKind(decoded)) return decoded;
      const namespace: Namespace = { name: space, local: decoded.name, ...(description && { description }) };
      const extra: Extra | undefined = outer
        ? { wire: 'responses', at: place, fields: {}, ...decoded.extra, outer }
        : decoded.extra;
      return { ...decoded, name: context.flat.of(space, decoded.name), namespace, ...(extra && { extra }) };
    });
  });
};

const decodeWebSearch = (tool: object, at: string): Tool => {
  const { filters, search_context_size: contextSize, user_location: userLocation } = webSearchReader.read(tool, at);
  const extra = extraOf(tool, searchMembers, at);
  return {
    type: 'web-search',
    ...(filters?.allowed_domains && { allowedDomains: filters.allowed_domains }),
    ...(filters?.blocked_domains && { blockedDomains: filters.blocked_domains }),
    ...(contextSize && { contextSize }),
    ...(userLocation && { userLocation: asJsonObject(userLocation) }),
    raw: { wire: 'responses', value: asJsonObject(tool) },
    at,
    ...(extra && { extra }),
  };
};

const searchMembers = ['type', 'filters', 'search_context_size', 'user_location'];

/** Decodes `tool_choice`. Throws an `invalid-request` fault for an undeclared tool. */
export const decodeToolChoice = (choice: string | object, { tools, deferred, nameOf }: DecodedTools): ToolChoice => {
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { type: choice };
  const value = isJsonObject(choice) ? choice : {};
  switch (value.type) {
    case 'function':
    case 'custom': {
      const { name, namespace } = namedReader.read(value, 'tool_choice');
      return { type: 'tool', name: known(nameOf(name, namespace), [...tools, ...deferred], 'tool_choice.name') };
    }
    case 'allowed_tools': {
      const { mode, tools: allowed } = allowedReader.read(value, 'tool_choice');
      const names = allowed.flatMap(({ type, name }, index) => {
        if (isNamed(type) && name) return [known(name, tools, `tool_choice.tools[${index}].name`)];
        return builtInNamed(type, tools) ?? [];
      });
      // The model has no name for a hosted tool.
      if (names.length < allowed.length) return { type: 'opaque', wire: 'responses', value };
      return { type: 'allowed', required: mode === 'required', names };
    }
    default: {
      if (typeof value.type !== 'string') {
        return fail('invalid-request', 'tool_choice.type is required.', { param: 'tool_choice.type' });
      }
      const name = builtInNamed(value.type, tools);
      return name === undefined ? { type: 'opaque', wire: 'responses', value } : { type: 'tool', name };
    }
  }
};

/** The model's name of the built-in tool of this type, if it is declared. */
const builtInNamed = (type: string, tools: readonly Tool[]): string | undefined => {
  for (const tool of tools) if (tool.type === 'function' && builtInKind(tool) === type) return tool.name;
  return undefined;
};

const known = (name: string, tools: readonly Tool[], param: string): string => {
  if (toolsByName(tools).has(name)) return name;
  const local = tools.find((tool) => 'namespace' in tool && tool.namespace?.local === name);
  if (local && 'name' in local && local.name) return local.name;
  return fail('invalid-request', `${param}: there is no tool named '${name}'.`, { param });
};
