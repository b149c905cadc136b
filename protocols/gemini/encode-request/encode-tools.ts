import { fail } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import { recordDropped, recordExtraLoss } from '../../../engine/model/record-losses.ts';
import type {
  CustomTool,
  FunctionTool,
  HostedTool,
  ModelRequest,
  WebSearchTool,
} from '../../../engine/model/request.ts';
import { memberPath } from '../../../engine/model/schema.ts';
import { describedTool } from '../../../engine/model/wire/described-tool.ts';
import { mergeSchemas } from '../../../engine/model/wire/merge-schemas.ts';
import { wireFormat, wireName } from '../tool-names.ts';
import { cleanSchema, objectOf } from '../tool-schema/clean-schema.ts';
import { withKnownKeywords } from '../tool-schema/known-keywords.ts';
import { type ContentContext, dropMarks } from './encode-content.ts';
import { encodeChoice } from './encode-tool-choice.ts';

/** The body's tool members; absent without tools. */
interface WireTools {
  readonly tools?: readonly JsonObject[];
  readonly toolConfig?: JsonObject;
}

/** Encodes tools and tool choice: one entry declares all functions, and each of the vendor's tools has one more. */
export const encodeTools = (request: ModelRequest, context: ContentContext): WireTools => {
  const { losses } = context;
  const { functions, own } = chooseTools(request, context);
  const declarations = functions.map((tool) => encodeFunction(tool, context));
  const hosted = new Map<string, JsonObject>();
  for (const tool of own) {
    const wire = encodeHosted(tool, context);
    const kind = Object.keys(wire ?? {}).join();
    if (hosted.has(kind)) losses.drop(tool.at ?? 'tools', 'a second one of the same kind');
    else if (wire) hosted.set(kind, wire);
  }
  const calling = encodeChoice(
    request.toolChoice,
    {
      functions: functions.map(({ name }) => name),
      hosted: hosted.size > 0,
      leftOut: functions.length + hosted.size < request.tools.length,
    },
    context,
  );
  const tools = [...(functions.length > 0 ? [{ functionDeclarations: declarations }] : []), ...hosted.values()];
  if (request.parallelToolCalls === false) losses.drop('parallel_tool_calls');
  if (tools.length === 0) return {};
  const toolConfig: JsonDraft = {};
  if (calling) toolConfig.functionCallingConfig = calling;
  // The vendor runs its own tools beside functions only if their calls may be returned.
  if (functions.length > 0 && hosted.size > 0) toolConfig.includeServerSideToolInvocations = true;
  return { tools, ...(Object.keys(toolConfig).length > 0 && { toolConfig }) };
};

interface Chosen {
  readonly functions: readonly (FunctionTool | CustomTool)[];
  readonly own: readonly (WebSearchTool | HostedTool)[];
}

/** The tools that this model accepts together. */
const chooseTools = ({ tools, toolChoice: choice }: ModelRequest, { losses, dialect }: ContentContext): Chosen => {
  const declared = tools.filter((tool) => tool.type === 'function' || tool.type === 'custom');
  // The vendor's own tools can't be forbidden, only left out.
  const offered = tools.filter((tool) => tool.type === 'web-search' || tool.type === 'hosted');
  const own = choice?.type === 'none' ? [] : offered;
  if (choice?.type === 'none') {
    for (const tool of offered) recordDropped(tool, 'none may be called', losses);
  }
  const narrows = choice?.type === 'allowed' && !choice.required;
  const mayBeCalled = narrows ? new Set(choice.names) : undefined;
  const isLeft = ({ name }: { readonly name: string }): boolean => mayBeCalled?.has(name) ?? true;
  const functions = declared.filter(isLeft);
  if (functions.length < declared.length) losses.approximate('tool_choice', 'the other tools are left out');
  for (const tool of declared) {
    if (!isLeft(tool)) recordDropped(tool, 'not among the tools that may be called', losses);
  }
  if (functions.length === 0 || own.length === 0 || dialect.mixedTools) return { functions, own };
  const named = choice?.type === 'tool' && !functions.some(({ name }) => name === choice.name);
  const forcesOwn = named || choice?.type === 'opaque';
  for (const tool of forcesOwn ? functions : own) {
    recordDropped(tool, "this model accepts functions or the vendor's tools, not both", losses);
  }
  return forcesOwn ? { functions: [], own } : { functions, own: [] };
};

/** Declares a client tool. A custom tool becomes a function with one text parameter. */
const encodeFunction = (tool: FunctionTool | CustomTool, context: ContentContext): JsonObject => {
  const at = tool.at ?? 'tools';
  const { losses, names } = context;
  const wire: JsonDraft = { name: wireName(names, tool.name) };
  if (tool.type === 'custom') {
    losses.approximate(at, 'a function with one text `input`');
    recordExtraLoss(tool.extra, losses);
    const description = [describedTool(tool), grammarNote(tool.format)].filter((text) => text).join('\n\n');
    if (description !== '') wire.description = description;
    return { ...wire, ...parameters(customParameters, at, context) };
  }
  dropMarks(tool, at, losses);
  if (tool.strict) losses.drop(memberPath(at, 'strict'));
  const about = describedTool(tool);
  if (about) wire.description = about;
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
  if (dialect.schema === 'json') {
    return { parametersJsonSchema: { type: 'object', ...withKnownKeywords(schema, at, losses) } };
  }
  const cleaned = objectOf(cleanSchema(mergeSchemas({ type: 'object' }, schema), at, losses), at, losses);
  return cleaned.properties === undefined ? {} : { parameters: cleaned };
};

/** Whether the schema describes no argument. */
const isEmptyObject = ({ properties, ...rest }: JsonObject): boolean =>
  (!isJsonObject(properties) || Object.keys(properties).length === 0) &&
  !['anyOf', 'oneOf', 'allOf', '$ref', 'patternProperties', 'propertyNames'].some(
    (keyword) => rest[keyword] !== undefined,
  ) &&
  !isJsonObject(rest.additionalProperties);

/**
 * Another vendor's hosted tool → this vendor's counterpart; `undefined`, with a loss, without one. Throws an
 * `unsupported` fault for a tool that the client runs but that has no schema to declare.
 */
const encodeHosted = (tool: WebSearchTool | HostedTool, { losses }: ContentContext): JsonObject | undefined => {
  const at = tool.at ?? 'tools';
  recordExtraLoss(tool.extra, losses);
  if (tool.type === 'web-search') return encodeWebSearch(tool, at, { losses });
  if (tool.wire === wireFormat) return tool.raw;
  if (clientRun.test(tool.kind)) {
    fail('unsupported', `${at}: this provider has no tool of the type ${tool.kind}; declare it as a function.`, {
      param: at,
    });
  }
  const same = counterparts.find(([kinds]) => kinds.test(tool.kind));
  if (!same) losses.drop(at, tool.kind);
  else losses.approximate(at, same[1]);
  return same && { [same[1]]: {} };
};

/** Tools that the client runs but that have no schema. Source: Anthropic API reference, "Tools". */
const clientRun = /^(?:bash|text_editor|computer|memory)_\d/;

/** Other vendors' hosted tools and this vendor's names for them. Source: Gemini API reference, "Tool". */
const counterparts: readonly (readonly [kinds: RegExp, name: string])[] = [
  [/^web_fetch/, 'urlContext'],
  [/^code_(?:execution|interpreter)/, 'codeExecution'],
];

const encodeWebSearch = (tool: WebSearchTool, at: string, { losses }: Pick<ContentContext, 'losses'>): JsonObject => {
  const uncarried = {
    max_uses: tool.maxUses,
    allowed_domains: tool.allowedDomains,
    // Only Vertex AI has a member for these.
    blocked_domains: tool.blockedDomains,
    user_location: tool.userLocation,
    search_context_size: tool.contextSize,
  };
  for (const [name, value] of Object.entries(uncarried)) if (value !== undefined) losses.drop(memberPath(at, name));
  return { googleSearch: {} };
};
