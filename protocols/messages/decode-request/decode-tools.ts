import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { FunctionTool, ModelRequest, Tool, ToolChoice } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { AnyTool, ClientTool, NamedChoice, ToolChoiceBody, WebSearch } from '../schema-request.ts';
import { cacheMark, nodeReader } from './decode-content.ts';

/** Decodes `tools`. The vendor's own tools keep their form. Throws an `invalid-request` fault with the path. */
export const decodeTools = (tools: readonly unknown[]): readonly Tool[] =>
  tools.map((tool, index) => decodeTool(tool, memberPath('tools', index)));

const anyTool = reader(AnyTool);
const readClientTool = nodeReader(ClientTool);
const readWebSearch = nodeReader(WebSearch);

/** Decodes one tool. Throws as `decodeTools` does. */
export const decodeTool = (given: unknown, at: string): Tool => {
  const raw = anyTool.read(given, at);
  const { type, name } = raw;
  if (typeof type !== 'string' || type === 'custom') return decodeClientTool(raw, at);
  if (type.startsWith('web_search')) return decodeWebSearch(raw, at);
  return { type: 'hosted', wire: 'messages', kind: type, name: typeof name === 'string' ? name : undefined, raw, at };
};

/** Decodes a tool with a schema, which the client runs. Throws as `decodeTools` does. */
export const decodeClientTool = (raw: JsonObject, at: string): FunctionTool => {
  const { value, extra } = readClientTool(raw, at);
  return {
    type: 'function',
    name: value.name,
    description: value.description ?? undefined,
    parameters: value.input_schema,
    strict: value.strict ?? undefined,
    cache: cacheMark(value.cache_control),
    at,
    extra,
  };
};

const decodeWebSearch = (raw: JsonObject, at: string): Tool => {
  const { value, extra } = readWebSearch(raw, at);
  return {
    type: 'web-search',
    maxUses: value.max_uses ?? undefined,
    allowedDomains: value.allowed_domains ?? undefined,
    blockedDomains: value.blocked_domains ?? undefined,
    userLocation: value.user_location ?? undefined,
    raw: { wire: 'messages', value: raw },
    at,
    extra,
  };
};

const choiceBody = reader(ToolChoiceBody);
const namedChoice = reader(NamedChoice);

/** Decodes `tool_choice` and its limit on parallel calls. Throws an `invalid-request` fault with the path. */
export const decodeToolChoice = (raw: JsonObject): Pick<ModelRequest, 'toolChoice' | 'parallelToolCalls'> => {
  const body = choiceBody.read(raw, 'tool_choice');
  const disabled = body.disable_parallel_tool_use ?? undefined;
  return {
    toolChoice: decodeChoice(body.type, raw),
    parallelToolCalls: disabled === undefined ? undefined : !disabled,
  };
};

const decodeChoice = (type: string, raw: JsonObject): ToolChoice => {
  switch (type) {
    case 'auto':
    case 'none':
      return { type };
    case 'any':
      return { type: 'required' };
    case 'tool':
      return { type, name: namedChoice.read(raw, 'tool_choice').name };
    default:
      return { type: 'opaque', wire: 'messages', value: raw };
  }
};
